// SPDX-License-Identifier: BSL-1.0
#include "io/backend/blocking_pool.hpp"

#include <signal.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include <weft/base/clock.hpp>

#include "context/scheduler/atomics.hpp"
#include "context/scheduler/driver.hpp"

namespace WEFT_NAMESPACE::detail {

blocking_pool::blocking_pool(waker wake, void* context, unsigned max_threads,
                             std::chrono::milliseconds idle_time) noexcept
    : wake_poller_(wake),
      context_(context),
      max_threads_(std::clamp(max_threads, 1U, most_threads)),
      processors_(std::max(std::thread::hardware_concurrency(), 1U)),
      idle_time_(idle_time) {
  std::construct_at(&wake_);
  std::construct_at(&performed_);
  for (slot& s : slots_)
    s.pool = this;
}

blocking_pool::~blocking_pool() {
  shutdown();
  std::destroy_at(&wake_);
  std::destroy_at(&performed_);
}

/// What is held for so short a time is not worth a sleep.
void blocking_pool::lock(guard& g) noexcept {
  for (int i = 0; i != 100; ++i) {
    if (g.try_lock())
      return;
    scheduler_atomics::pause();
  }
  g.lock();
}

blocking_pool::guard blocking_pool::lock() noexcept {
  guard g(mutex_, std::defer_lock);
  lock(g);
  return g;
}

void blocking_pool::submit(io_operation* op, bool attended) noexcept {
  guard g = lock();
  ++pending_;
  push_back(op);
  if (endless_.load())
    attended_ = false;
  else if (attended)
    attended_ = true;
  if (stopping_ || searching_ || !may_begin() || call_helper() || running_ != 0)
    return;
  unlink(op);
  g.unlock();
  op->kind().perform(*op);
  g.lock();
  const bool wakes = keep(op, true);
  g.unlock();
  if (wakes)
    wake_poller_(context_);
}

bool blocking_pool::cancel(io_operation* op) noexcept {
  guard g = lock();
  if (!op->prev_ && front_ != op)
    return false;
  unlink(op);
  --pending_;
  return true;
}

// ---- the poller

std::int64_t blocking_pool::before_sleep() noexcept {
  endless_.store(true);
  if (pending_.load() == 0)
    return driver::forever;
  guard g = lock();
  const bool looks_again = kept_count_ != 0 || busy_ != 0 || searching_ || lacks_helper();
  endless_.store(!looks_again, std::memory_order_relaxed);
  attended_ = looks_again;
  poller_sleeps_ = looks_again && kept_count_ == 0;
  return !looks_again ? driver::forever : poller_sleeps_ ? late : 0;
}

void blocking_pool::after_sleep(operation_queue& results) noexcept {
  endless_.store(false, std::memory_order_relaxed);
  if (!pending())
    return;
  guard g = lock();
  poller_sleeps_ = false;
  take(results);
  attended_ = pending();
  if (busy_ != 0 || lacks_helper())
    look();
}

void blocking_pool::take(operation_queue& results) noexcept {
  results.splice(kept_);
  pending_ -= std::exchange(kept_count_, 0);
}

/// For operations that are late.
void blocking_pool::look() noexcept {
  const std::int64_t now = steady_now();
  if (now - last_look_ < late)
    return;
  last_look_ = now;
  for (slot& s : slots_) {
    if (s.op && !s.is_late && now - s.begun >= late) {
      s.is_late = true;
      --busy_;
      expected_slow_ = slow_memory;
    }
  }
  call_searcher();
}

operation_queue blocking_pool::await(const std::atomic<unsigned>& awaited) noexcept {
  operation_queue results;
  guard g(mutex_);
  ++awaiting_;
  performed_.wait(g,
                  [&] { return kept_count_ != 0 || awaited.load(std::memory_order_acquire) == 0; });
  --awaiting_;
  take(results);
  return results;
}

void blocking_pool::end_await() noexcept {
  const guard g(mutex_);
  if (awaiting_ != 0)
    performed_.notify_all();
}

// ---- its end, and fork

operation_queue blocking_pool::shutdown() noexcept {
  {
    const guard g(mutex_);
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
  while (io_operation* op = pop_front()) {
    left.push(op);
    --pending_;
  }
  stopping_ = searching_ = called_ = false;
  return left;
}

void blocking_pool::fork_child() noexcept {
  // The threads that waited here are not in this process, but the old condition variables still
  // count them: they are abandoned, not destroyed, for their destructors would wait for them.
  std::construct_at(&wake_);
  std::construct_at(&performed_);
  idle_ = running_ = busy_ = awaiting_ = 0;
  searching_ = called_ = poller_sleeps_ = false;
  endless_.store(false, std::memory_order_relaxed);
  for (slot& s : slots_) {
    if (io_operation* op = s.op) {
      op->ec.clear();
      op->bytes = 0;
      push_back(op);
    }
    s = slot{.pool = this};
  }
  mutex_.unlock();
}

void blocking_pool::begin_again() noexcept {
  const guard g(mutex_);
  call_searcher();
}

std::size_t blocking_pool::threads() const noexcept {
  const guard g(mutex_);
  return running_;
}

// ---- helpers

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

/// Whether a helper that is free is to take the next operation.
bool blocking_pool::may_begin() const noexcept {
  return front_ && !stopping_ && (busy_ < processors_ || expected_slow_ != 0 || !attended_);
}

/// Whether operations wait and no helper is on its way to them, though more are allowed: none could
/// be started, or none was to be. (If all that are allowed live, the next that is free takes them.)
bool blocking_pool::lacks_helper() const noexcept {
  return front_ && !searching_ && running_ != max_threads_;
}

/// If a helper is to take the next operation, and none is on its way.
void blocking_pool::call_searcher() noexcept {
  if (!searching_ && may_begin())
    call_helper();
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
  guard g(mutex_);
  for (bool called = true; called;) {
    // searching_ is this helper's.
    search(g);
    searching_ = false;
    const bool found = may_begin();
    perform_all(self, g);
    if (stopping_)
      break;
    if (found && !searching_)
      searching_ = true;
    else
      called = sleep(g);
  }
  --running_;
  self.what = slot::state::ended;
}

void blocking_pool::search(guard& g) noexcept {
  if (front_ || stopping_)
    return;
  g.unlock();
  for (int i = 0; i != search_yields && queued_.load(std::memory_order_relaxed) == 0; ++i)
    std::this_thread::yield();
  lock(g);
}

void blocking_pool::perform_all(slot& self, guard& g) noexcept {
  for (bool wakes = false; may_begin();) {
    io_operation* const op = pop_front();
    ++busy_;
    call_searcher();
    self.op = op;
    self.is_late = false;
    self.begun = steady_now();
    g.unlock();
    if (wakes)
      wake_poller_(context_);
    op->kind().perform(*op);
    const bool was_slow = steady_now() - self.begun >= slow;
    lock(g);
    self.op = nullptr;
    if (!self.is_late)
      --busy_;
    wakes = keep(op, was_slow);
    if (wakes && !may_begin()) {
      g.unlock();
      wake_poller_(context_);
      lock(g);
      wakes = false;
    }
  }
}

/// Keeps a result. Whether the poller is to be woken.
bool blocking_pool::keep(io_operation* op, bool was_slow) noexcept {
  if (was_slow)
    expected_slow_ = slow_memory;
  else if (expected_slow_ != 0)
    --expected_slow_;
  kept_.push(op);
  ++kept_count_;
  if (awaiting_ != 0)
    performed_.notify_all();
  if (!attended_)
    return true;
  return poller_sleeps_ &&
         (expected_slow_ != 0 || queued_ < processors_ || kept_count_ >= most_kept) &&
         std::exchange(poller_sleeps_, false);
}

bool blocking_pool::sleep(guard& g) noexcept {
  ++idle_;
  const bool woken = wake_.wait_for(g, idle_time_, [&] { return called_ || stopping_; });
  --idle_;
  called_ = false;
  return woken;
}

}  // namespace WEFT_NAMESPACE::detail
