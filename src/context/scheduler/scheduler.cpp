// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/scheduler.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "context/scheduler/asymmetric_barrier.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

constexpr auto no_deadline = scheduler::clock::time_point::max();

void count(std::size_t& n) noexcept {
  if (n != std::numeric_limits<std::size_t>::max())
    ++n;
}

}  // namespace

// A worker's stay: what enters leaves, also when a handler throws.
struct scheduler::stay {
  explicit stay(scheduler& owner) noexcept : self(owner), w(owner) { self.enter(w); }
  ~stay() { self.leave(w); }

  scheduler& self;
  worker w;
};

scheduler::scheduler(execution_context& context)
    : scheduler(context, scheduler_options{.own_thread = true}) {}

scheduler::scheduler(execution_context& context, const scheduler_options& options)
    : service(context), options_(options) {
  if (options_.own_thread) {
    work_started();
    own_thread_ = std::thread([this] { run(); });
  }
}

scheduler::~scheduler() {
  stop_own_thread();
}

void scheduler::stop_own_thread() noexcept {
  if (own_thread_.joinable()) {
    stop();
    own_thread_.join();
  }
}

void scheduler::shutdown() {
  stop_own_thread();
  // Destroying an operation may destroy objects that queue others.
  for (;;) {
    operation_queue ops;
    {
      lock l(mutex_);
      ops.splice(shared_);
    }
    inbox_.drain(ops);
    if (ops.empty())
      break;
  }
}

// ---- workers come and go

void scheduler::check_thread() noexcept {
  if (!options_.single_thread)
    return;
  std::thread::id expected{};
  const std::thread::id self = std::this_thread::get_id();
  if (bound_thread_.compare_exchange_strong(expected, self, std::memory_order_relaxed) ||
      expected == self)
    return;
  std::fputs(
      "weft: a context made with single_thread was used from a second thread; construct it "
      "without single_thread to share it\n",
      stderr);
  std::abort();
}

void scheduler::enter(worker& w) noexcept {
  check_thread();
  lock l(mutex_);
  if (++entries_ % worker::poll_interval == 0)
    w.budget_ = 0;
  w.next_ = workers_;
  workers_ = &w;
  outstanding_.fetch_add(credit, std::memory_order_relaxed);
  if (w.next_)
    end_bias();
  else
    bias(w);
}

void scheduler::leave(worker& w) noexcept {
  lock l(mutex_);
  if (biased_.load(std::memory_order_relaxed) == &w) {
    biased_.store(nullptr, std::memory_order_relaxed);
    shared_.splice(w.local_);
  }
  worker** link = &workers_;
  while (*link != &w)
    link = &(*link)->next_;
  *link = w.next_;
  settle(w);
  // What this worker was woken for, and polling, go on with another.
  if (!nothing_queued() || (driver_ && !polling_))
    wake_one();
}

/// Lets the only worker own its queue.
void scheduler::bias(worker& w) noexcept {
  if (!options_.single_thread && !asymmetric_barrier_available())
    return;
  w.local_.splice(shared_);
  biased_.store(&w, std::memory_order_relaxed);
}

void scheduler::end_bias() noexcept {
  worker* owner = biased_.load(std::memory_order_relaxed);
  if (!owner)
    return;
  biased_.store(nullptr, std::memory_order_seq_cst);
  heavy_barrier();
  while (owner->busy_.load(std::memory_order_acquire))
    std::this_thread::yield();
  shared_.splice(owner->local_);
}

bool scheduler::own(worker& w) noexcept {
  w.busy_.store(true, std::memory_order_relaxed);
  light_barrier();
  if (biased_.load(std::memory_order_relaxed) == &w) [[likely]]
    return true;
  disown(w);
  return false;
}

void scheduler::disown(worker& w) noexcept {
  w.busy_.store(false, std::memory_order_release);
}

bool scheduler::alone() const noexcept {
  const worker* w = worker::current(*this);
  return w && biased_.load(std::memory_order_relaxed) == w;
}

// ---- work

void scheduler::work_started() noexcept {
  if (worker* w = worker::current(*this))
    ++w->work_;
  else
    outstanding_.fetch_add(1, std::memory_order_relaxed);
}

void scheduler::work_finished() noexcept {
  if (worker* w = worker::current(*this))
    --w->work_;
  else if (outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1)
    stop();
}

/// Gives back the credit and tells the changes of a worker that goes to sleep or leaves. False if
/// no work is left: the scheduler is stopped then.
bool scheduler::settle(worker& w) noexcept {
  const std::int64_t change = w.work_ - credit;
  w.work_ = 0;
  if (outstanding_.fetch_add(change, std::memory_order_acq_rel) + change != 0)
    return true;
  stopped_.store(true, std::memory_order_release);
  wake_all();
  return false;
}

// ---- queues

void scheduler::push(worker* w, operation* op) noexcept {
  if (w && own(*w)) {
    if (!inbox_.empty()) [[unlikely]]
      inbox_.drain(w->local_);
    w->local_.push(op);
    disown(*w);
    return;
  }
  inbox_.push(op);
  wake_if_idle();
}

void scheduler::post(operation* op) noexcept {
  worker* w = worker::current(*this);
  if (w) {
    ++w->work_;
  } else {
    check_thread();
    outstanding_.fetch_add(1, std::memory_order_relaxed);
  }
  push(w, op);
}

void scheduler::complete(operation* op) noexcept {
  push(worker::current(*this), op);
}

void scheduler::complete(operation_queue& ops) noexcept {
  worker* w = worker::current(*this);
  while (operation* op = ops.pop())
    push(w, op);
}

operation* scheduler::take(worker& w) noexcept {
  if (own(w)) [[likely]] {
    if (!inbox_.empty()) [[unlikely]]
      inbox_.drain(w.local_);
    operation* op = w.local_.pop();
    disown(w);
    return op;
  }
  return take_shared(w);
}

operation* scheduler::take_shared(worker& w) noexcept {
  lock l(mutex_);
  if (!inbox_.empty())
    inbox_.drain(shared_);
  if (workers_ == &w && !w.next_)
    bias(w);
  const bool biased = biased_.load(std::memory_order_relaxed) == &w;
  operation* op = (biased ? w.local_ : shared_).pop();
  if (!shared_.empty())
    wake_one();
  return op;
}

bool scheduler::nothing_queued() noexcept {
  worker* owner = biased_.load(std::memory_order_relaxed);
  return inbox_.empty(std::memory_order_seq_cst) && shared_.empty() &&
         (!owner || owner->local_.empty());
}

// ---- the loop

bool scheduler::run_one(worker& w, wait mode, clock::time_point deadline) {
  for (;;) {
    if (stopped() || (deadline != no_deadline && clock::now() >= deadline))
      return false;
    if (w.budget_ == 0) [[unlikely]] {
      w.budget_ = worker::poll_interval;
      lock l(mutex_);
      if (driver_ && !polling_ && !driver_->quiet())
        poll(w, wait::no, deadline, l);
    }
    if (operation* op = take(w)) {
      --w.budget_;
      struct finished {
        ~finished() { --w.work_; }
        worker& w;
      } on_exit{w};
      op->invoke();
      return true;
    }
    if (!idle(w, mode, deadline))
      return false;
  }
}

/// Nothing was queued: looks for events, and sleeps if it may. False if this worker is to leave.
bool scheduler::idle(worker& w, wait mode, clock::time_point deadline) noexcept {
  lock l(mutex_);
  if (!settle(w)) {
    outstanding_.fetch_add(credit, std::memory_order_relaxed);
    return false;
  }
  bool again = true;
  w.settled_ = true;
  if (driver_ && !polling_) {
    poll(w, mode, deadline, l);
    again = mode == wait::yes || !nothing_queued();
  } else if (mode == wait::yes) {
    park(w, deadline, l);
  } else {
    again = !nothing_queued();
  }
  w.settled_ = false;
  outstanding_.fetch_add(credit, std::memory_order_relaxed);
  return again;
}

void scheduler::poll(worker& w, wait mode, clock::time_point deadline, lock& l) noexcept {
  std::int64_t timeout = 0;
  if (mode == wait::yes) {
    idle_.fetch_add(1, std::memory_order_seq_cst);
    if (!nothing_queued() || stopped()) {
      idle_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    timeout = driver::forever;
    if (deadline != no_deadline)
      timeout = std::max<std::int64_t>(
          0, std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - clock::now()).count());
    poller_asleep_ = true;
  }
  polling_ = true;
  operation_queue ready;
  driver* const source = driver_;
  l.unlock();
  source->poll(timeout, ready);
  l.lock();
  polling_ = false;
  if (mode == wait::yes && poller_asleep_) {
    poller_asleep_ = false;
    idle_.fetch_sub(1, std::memory_order_relaxed);
  }
  if (biased_.load(std::memory_order_relaxed) == &w) {
    // The inbox goes first only among posts; events have no order against them.
    w.local_.splice(ready);
  } else {
    shared_.splice(ready);
    if (parked_)
      wake_one();
  }
}

void scheduler::park(worker& w, clock::time_point deadline, lock& l) noexcept {
  idle_.fetch_add(1, std::memory_order_seq_cst);
  if (!nothing_queued() || stopped()) {
    idle_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  w.notified_ = false;
  w.next_parked_ = parked_;
  parked_ = &w;
  while (!w.notified_) {
    if (deadline == no_deadline) {
      w.wakeup_.wait(l);
    } else if (w.wakeup_.wait_until(l, deadline) == std::cv_status::timeout && !w.notified_) {
      worker** link = &parked_;
      while (*link != &w)
        link = &(*link)->next_parked_;
      *link = w.next_parked_;
      idle_.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
  }
}

// ---- waking; all under mutex_ but wake_if_idle

void scheduler::unpark() noexcept {
  worker* w = parked_;
  parked_ = w->next_parked_;
  w->notified_ = true;
  idle_.fetch_sub(1, std::memory_order_relaxed);
  w->wakeup_.notify_one();
}

void scheduler::wake_one() noexcept {
  if (parked_) {
    unpark();
  } else if (poller_asleep_) {
    poller_asleep_ = false;
    idle_.fetch_sub(1, std::memory_order_relaxed);
    driver_->wake();
  }
}

void scheduler::wake_all() noexcept {
  while (parked_)
    unpark();
  wake_one();
}

void scheduler::wake_if_idle() noexcept {
  if (idle_.load(std::memory_order_seq_cst) == 0)
    return;
  lock l(mutex_);
  wake_one();
}

void scheduler::stop() noexcept {
  lock l(mutex_);
  stopped_.store(true, std::memory_order_release);
  wake_all();
}

void scheduler::set_driver(driver* driver) noexcept {
  lock l(mutex_);
  if (driver_ == driver)
    return;
  driver_ = driver;
  if (parked_)
    unpark();  // it becomes the poller
}

void scheduler::notify_fork(execution_context::fork_event event) {
  if (event != execution_context::fork_event::fork_child)
    return;
  // Of the workers only those of the forking thread are left; their stacks can still be read.
  end_bias();
  worker** link = &workers_;
  while (worker* w = *link) {
    bool here = false;
    for (worker* mine = worker::current(*this); mine && !here; mine = mine->outer_)
      here = mine == w;
    if (here) {
      link = &w->next_;
    } else {
      if (!w->settled_)
        outstanding_.fetch_add(w->work_ - credit, std::memory_order_relaxed);
      *link = w->next_;
    }
  }
  parked_ = nullptr;
  polling_ = false;
  poller_asleep_ = false;
  idle_.store(0, std::memory_order_relaxed);
  if (options_.own_thread) {
    own_thread_.detach();
    own_thread_ = std::thread([this] { run(); });
  }
}

// ---- run() and its siblings

std::size_t scheduler::run_all(wait mode, clock::time_point deadline) {
  stay here(*this);
  std::size_t n = 0;
  while (run_one(here.w, mode, deadline))
    count(n);
  return n;
}

std::size_t scheduler::run_single(wait mode, clock::time_point deadline) {
  stay here(*this);
  return run_one(here.w, mode, deadline) ? 1 : 0;
}

std::size_t scheduler::run() {
  return run_all(wait::yes, no_deadline);
}
std::size_t scheduler::run_one() {
  return run_single(wait::yes, no_deadline);
}
std::size_t scheduler::poll() {
  return run_all(wait::no, no_deadline);
}
std::size_t scheduler::poll_one() {
  return run_single(wait::no, no_deadline);
}
std::size_t scheduler::run_one_until(clock::time_point deadline) {
  return run_single(wait::yes, deadline);
}
std::size_t scheduler::run_until(clock::time_point deadline) {
  return run_all(wait::yes, deadline);
}

// ---- what the templates see

scheduler& use_scheduler(execution_context& context) {
  return use_service<scheduler>(context);
}
void scheduler_post(scheduler& s, operation* op) noexcept {
  s.post(op);
}
void scheduler_complete(scheduler& s, operation* op) noexcept {
  s.complete(op);
}
void scheduler_complete(scheduler& s, operation_queue& ops) noexcept {
  s.complete(ops);
}
void scheduler_work_started(scheduler& s) noexcept {
  s.work_started();
}
void scheduler_work_finished(scheduler& s) noexcept {
  s.work_finished();
}
bool scheduler_running_in_this_thread(const scheduler& s) noexcept {
  return worker::current(s) != nullptr;
}

}  // namespace WEFT_NAMESPACE::detail
