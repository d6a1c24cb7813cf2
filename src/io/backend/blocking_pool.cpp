// SPDX-License-Identifier: BSL-1.0
#include "io/backend/blocking_pool.hpp"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <thread>

namespace WEFT_NAMESPACE::detail {

blocking_pool::blocking_pool(completion done, void* context, unsigned max_threads,
                             std::chrono::milliseconds idle_time) noexcept
    : done_(done),
      context_(context),
      max_threads_(std::clamp(max_threads, 1U, most_threads)),
      idle_time_(idle_time) {
  std::construct_at(&wake_);
  for (slot& s : slots_)
    s.pool = this;
}

blocking_pool::~blocking_pool() {
  shutdown();
  std::destroy_at(&wake_);
}

void blocking_pool::submit(io_operation* op) noexcept {
  {
    const std::lock_guard lock(mutex_);
    push_back(op);
    if (stopping_ || searching_ || call_helper() || running_ != 0)
      return;
    unlink(op);
  }
  op->kind().perform(*op);
  done_(context_, op);
}

bool blocking_pool::cancel(io_operation* op) noexcept {
  const std::lock_guard lock(mutex_);
  if (!op->prev_ && front_ != op)
    return false;
  unlink(op);
  return true;
}

operation_queue blocking_pool::shutdown() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    wake_.notify_all();
  }
  // No thread is started any more, so a slot that is in use stays the same thread's.
  for (slot& s : slots_) {
    if (s.thread != pthread_t{}) {
      pthread_join(s.thread, nullptr);
      s.thread = pthread_t{};
      s.what = slot::state::empty;
    }
  }
  operation_queue left;
  while (io_operation* op = pop_front())
    left.push(op);
  stopping_ = searching_ = called_ = false;
  return left;
}

void blocking_pool::fork_prepare() noexcept {
  std::unique_lock lock(mutex_);
  reported_.wait(lock, [this] { return reporting_ == 0; });
  lock.release();
}

void blocking_pool::fork_child() noexcept {
  // The helpers that waited here are not in this process, but the old condition variable still
  // counts them: it is abandoned, not destroyed, for its destructor would wait for them.
  std::construct_at(&wake_);
  idle_ = 0;
  running_ = 0;
  searching_ = called_ = false;
  for (slot& s : slots_) {
    if (io_operation* op = s.op) {
      op->ec.clear();
      op->bytes = 0;
      push_back(op);
    }
    s = slot{.pool = this};
  }
  if (front_)
    call_helper();
  mutex_.unlock();
}

std::size_t blocking_pool::threads() const noexcept {
  const std::lock_guard lock(mutex_);
  return running_;
}

void blocking_pool::push_back(io_operation* op) noexcept {
  op->prev_ = back_;
  op->next_ = nullptr;
  (back_ ? back_->next_ : front_) = op;
  back_ = op;
  ++queued_;
}

io_operation* blocking_pool::pop_front() noexcept {
  io_operation* op = front_;
  if (op)
    unlink(op);
  return op;
}

void blocking_pool::unlink(io_operation* op) noexcept {
  (op->prev_ ? op->prev_->next_ : front_) = op->next_;
  (op->next_ ? op->next_->prev_ : back_) = op->prev_;
  op->prev_ = op->next_ = nullptr;
  --queued_;
}

bool blocking_pool::call_helper() noexcept {
  if (idle_ != 0) {
    called_ = true;
    wake_.notify_one();
  } else if (running_ == max_threads_ || !start_thread()) {
    return false;
  }
  searching_ = true;
  return true;
}

bool blocking_pool::start_thread() noexcept {
  slot* const free = std::find_if(std::begin(slots_), std::end(slots_),
                                  [](const slot& s) { return s.what != slot::state::running; });
  if (free->what == slot::state::ended)
    pthread_join(free->thread, nullptr);  // it no longer takes the lock
  free->what = slot::state::empty;
  free->thread = pthread_t{};

  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(&free->thread, nullptr, &run, free);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    free->thread = pthread_t{};
    return false;
  }
  free->what = slot::state::running;
  ++running_;
  return true;
}

void* blocking_pool::run(void* self) noexcept {
  auto& s = *static_cast<slot*>(self);
  s.pool->serve(s);
  return nullptr;
}

void blocking_pool::serve(slot& self) noexcept {
  std::unique_lock lock(mutex_);
  for (bool called = true; called;) {
    // searching_ is this helper's.
    search(lock);
    searching_ = false;
    const bool found = front_;
    while (front_ && !stopping_)
      perform_front(self, lock);
    if (stopping_)
      break;
    if (found && !searching_)
      searching_ = true;
    else
      called = sleep(lock);
  }
  --running_;
  self.what = slot::state::ended;
}

void blocking_pool::search(std::unique_lock<std::mutex>& lock) noexcept {
  if (front_ || stopping_)
    return;
  lock.unlock();
  for (int i = 0; i != search_yields && queued_.load(std::memory_order_relaxed) == 0; ++i)
    std::this_thread::yield();
  lock.lock();
}

void blocking_pool::perform_front(slot& self, std::unique_lock<std::mutex>& lock) noexcept {
  io_operation* const op = pop_front();
  if (front_ && !searching_)
    call_helper();
  self.op = op;
  lock.unlock();
  op->kind().perform(*op);
  lock.lock();
  self.op = nullptr;
  ++reporting_;
  lock.unlock();
  done_(context_, op);
  lock.lock();
  if (--reporting_ == 0)
    reported_.notify_all();
}

bool blocking_pool::sleep(std::unique_lock<std::mutex>& lock) noexcept {
  ++idle_;
  const bool woken = wake_.wait_for(lock, idle_time_, [&] { return called_ || stopping_; });
  --idle_;
  called_ = false;
  return woken;
}

}  // namespace WEFT_NAMESPACE::detail
