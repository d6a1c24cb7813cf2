// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/scheduler.hpp"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace WEFT_NAMESPACE::detail {

// A worker's stay: what enters leaves, also when a handler throws.
struct scheduler::stay {
  explicit stay(scheduler& owner)
      : self(owner),
        memory(owner.first_is_taken_.test_and_set(std::memory_order_acquire) ? new worker_memory
                                                                             : owner.first_),
        w(*std::construct_at(&memory->object, owner, owner.biased_)) {
    self.enter(w);
  }
  ~stay() {
    self.leave(w);
    std::destroy_at(&w);
    if (memory == self.first_)
      self.first_is_taken_.clear(std::memory_order_release);
    else
      delete memory;
  }

  scheduler& self;
  // Not on the stack, which the child of a fork, before it is told of this scheduler, may give to
  // another thread.
  worker_memory* const memory;
  worker& w;
};

scheduler::scheduler(execution_context& context) : scheduler(context, scheduler_options{}) {
  work_started();
  start_threads(1);
}

scheduler::scheduler(execution_context& context, const scheduler_options& options)
    : service(context), options_(options), biased_(options.single_thread || may_bias()) {}

scheduler::~scheduler() {
  stop_threads();
  if (!first_is_taken_.test_and_set(std::memory_order_acquire))
    delete first_;  // else the process ends inside run()
}

void scheduler::start_threads(std::size_t count) {
  own_threads_.start(count, *this);
}

void scheduler::join_threads() noexcept {
  if (own_threads_.is_here())
    own_threads_.join();
}

void scheduler::stop_threads() noexcept {
  if (own_threads_.size() == 0)
    return;
  if (own_threads_.is_here()) {
    stop();
    own_threads_.join();
  } else {  // the program has not told this child
    forget_the_dead();
    own_threads_.abandon();
  }
}

void scheduler::stop_threads_at_exit() noexcept {
  stop();
  own_threads_.let_go_of_this_thread();
  own_threads_.join();
}

void scheduler::shutdown() {
  stop_threads();
  // Destroying an operation may destroy objects that queue others.
  for (;;) {
    operation* op;
    {
      const lock l(mutex_);
      take_inbox(backlog_);
      op = backlog_.pop();
    }
    if (!op)
      break;
    op->destroy();
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
  const lock l(mutex_);
  foreign_loop_wakes();
  if (++entries_ % worker::poll_interval == 0)
    w.begin_turn(0);
  w.id_ = entries_;
  w.next_ = workers_;
  workers_ = &w;
  woke();
  outstanding_.fetch_add(credit, std::memory_order_relaxed);
  if (worker* const outer = w.further_out())
    backlog_.append(outer->local_);  // it waits for nobody else
  else
    ++threads_;
  several_.store(threads_ > 1, std::memory_order_relaxed);
  if (is_single(w))
    w.local_.append(backlog_);
}

void scheduler::leave(worker& w) noexcept {
  lock l(mutex_);
  end_search(w, false);
  if (has_foreign_loop_ && is_single(w)) [[unlikely]]
    arm(w, l);
  backlog_.append(w.local_);
  worker** link = &workers_;
  while (*link != &w)
    link = &(*link)->next_;
  *link = w.next_;
  left_ += w.counts();
  if (!w.further_out())
    --threads_;
  several_.store(threads_ > 1, std::memory_order_relaxed);
  const bool something_left = !nothing_queued();
  if (threads_ == 1 && !workers_->settled_)
    give_backlog(*workers_);
  --awake_;
  settle(w);
  // What this worker was woken for, and polling, go on with another.
  if (something_left || nobody_polls())
    wake_one();
  if (awake_ != 0)
    ensure_watch();
  if (has_foreign_loop_) [[unlikely]]
    foreign_loop_sleeps();
}

bool scheduler::try_block() noexcept {
  const lock l(mutex_);
  if (blocked_ + 1 == threads_)
    return false;
  ++blocked_;
  return true;
}

void scheduler::unblock() noexcept {
  const lock l(mutex_);
  --blocked_;
}

// ---- work

/// The last of all work is counted down under the mutex: else another worker could find nothing
/// left meanwhile, and run() return, and the stop that follows here come after a restart().
void scheduler::work_finished() noexcept {
  if (worker* w = worker::current(*this)) {
    --w->work_;
    return;
  }
  std::int64_t count = outstanding_.load(std::memory_order_relaxed);
  while (count > 1)
    if (outstanding_.compare_exchange_weak(count, count - 1, std::memory_order_release,
                                           std::memory_order_relaxed))
      return;
  const lock l(mutex_);
  if (outstanding_.fetch_sub(1, std::memory_order_acquire) != 1 || !nothing_queued())
    return;
  set_stopped(true);
  wake_all();
}

/// Gives back the credit and tells the changes of a worker that goes to sleep or leaves. False if
/// no work is left: the scheduler is stopped then.
bool scheduler::settle(worker& w) noexcept {
  const std::int64_t change = w.work_ - credit;
  w.work_ = 0;
  if (outstanding_.fetch_add(change, std::memory_order_acquire) + change != 0 || !nothing_queued())
    return true;
  set_stopped(true);
  wake_all();
  return false;
}

// ---- the loop

bool scheduler::nobody_polls() const noexcept {
  return driver_.load(std::memory_order_relaxed) && !poller_;
}

/// The next operation to run, if it is at hand and nothing calls for attention; else null.
inline operation* scheduler::take(worker& w) noexcept {
  if (attention_.load(std::memory_order_relaxed) || !w.may_take() || !w.lock_.enter()) [[unlikely]]
    return nullptr;
  operation* const op = inbox_.empty() ? w.local_.pop_front() : nullptr;
  w.lock_.exit();
  if (op) [[likely]]
    w.count_one();
  return op;
}

/// The next operation to run, or null if this worker is to leave.
operation* scheduler::find(worker& w, wait mode, clock::time_point deadline) noexcept {
  for (;;) {
    if (stopped() || (deadline != no_deadline && clock::now() >= deadline))
      return nullptr;
    if (!w.may_take()) {
      look_around(w, deadline);
      w.begin_turn(w.turn_);
    }
    if (operation* const op = take_slowly(w)) {
      w.count_one();
      return op;
    }
    if (!idle(w, mode, deadline))
      return nullptr;
  }
}

void scheduler::run(worker& w, operation* op) {
  w.running_.store(op->ending(), std::memory_order_relaxed);
  if (observation* const o = observed_.load(std::memory_order_acquire))
    o->run(op, w.origin_);
  else
    op->invoke();
}

/// What the workers look at beside what they take.
void scheduler::set_attention() noexcept {
  attention_.store(
      stopped_.load(std::memory_order_relaxed) || observed_.load(std::memory_order_relaxed),
      std::memory_order_relaxed);
}

void scheduler::set_stopped(bool value) noexcept {
  stopped_.store(value, std::memory_order_release);
  set_attention();
}

void scheduler::stop() noexcept {
  const lock l(mutex_);
  set_stopped(true);
  wake_all();
}

void scheduler::restart() noexcept {
  const lock l(mutex_);
  set_stopped(false);
  wake_foreign_loop();  // nobody told it of what came while all was stopped
}

void scheduler::set_driver(driver* driver) noexcept {
  const lock l(mutex_);
  if (driver_.load(std::memory_order_relaxed) == driver)
    return;
  foreign_loop_wakes();
  has_foreign_loop_ = false;
  driver_.store(driver, std::memory_order_release);
  if (parked_)
    unpark(*parked_);  // it becomes the poller
  else if (watcher_ && watcher_ != poller_)
    unpark(*watcher_);
}

void scheduler::notify_fork(execution_context::fork_event event) {
  if (event != execution_context::fork_event::fork_child)
    return;
  forget_the_dead();
  const std::size_t count = own_threads_.size();
  own_threads_.abandon();
  start_threads(count);
}

/// In the child of a fork: of the workers only those of the forking thread are left.
void scheduler::forget_the_dead() noexcept {
  // An observer's thread may have been at it, which the program cannot keep away.
  std::construct_at(&mutex_);
  awake_ = 0;
  threads_ = 0;
  blocked_ = 0;
  worker** link = &workers_;
  while (worker* w = *link) {
    bool here = false;
    for (worker* mine = worker::current(*this); mine && !here; mine = mine->outer_)
      here = mine == w;
    if (here) {
      link = &w->next_;
      ++awake_;
      threads_ = 1;
      w->searches_ = false;
    } else {
      if (!w->settled_)
        outstanding_.fetch_add(w->work_ - credit, std::memory_order_relaxed);
      backlog_.append(w->local_);
      left_ += w->counts();
      *link = w->next_;
      if (w == &first_->object)
        first_is_taken_.clear(std::memory_order_relaxed);
    }
  }
  several_.store(false, std::memory_order_relaxed);
  if (workers_)
    workers_->local_.prepend(backlog_);
  spinning_ = false;
  parked_ = nullptr;
  observers_ = nullptr;
  poller_ = nullptr;
  poller_asleep_ = false;
  foreign_asleep_ = false;
  arming_ = false;
  end_watch();
  searching_.store(false, std::memory_order_relaxed);
  idle_.store(0, std::memory_order_relaxed);
}

// ---- run() and its siblings

std::size_t scheduler::run_all(wait mode, clock::time_point deadline) {
  stay here(*this);
  worker& w = here.w;
  if (mode == wait::no && deadline != no_deadline)
    w.begin_turn(0);  // calls that are cut short look for events too
  for (std::size_t n = 0;; ++n) {
    if (deadline == no_deadline)
      if (operation* const op = take(w)) [[likely]] {
        w.running_.store(op->ending(), std::memory_order_relaxed);
        op->invoke();
        continue;
      }
    operation* const op = find(w, mode, deadline);
    if (!op)
      return n;
    run(w, op);
  }
}

std::size_t scheduler::run_single(wait mode, clock::time_point deadline) {
  stay here(*this);
  operation* const op = find(here.w, mode, deadline);
  if (op)
    run(here.w, op);
  return op ? 1 : 0;
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
std::size_t scheduler::poll_until(clock::time_point deadline) {
  return run_all(wait::no, deadline);
}
std::size_t scheduler::run_one_until(clock::time_point deadline) {
  return clock::now() < deadline ? run_single(wait::yes, deadline) : 0;
}
std::size_t scheduler::run_until(clock::time_point deadline) {
  return clock::now() < deadline ? run_all(wait::yes, deadline) : 0;
}

// ---- what the templates see

scheduler& use_scheduler(execution_context& context) {
  auto& result = use_service<scheduler>(context);
  if (result.options().begin) [[unlikely]]
    result.options().begin();
  return result;
}
void scheduler_post(scheduler& s, operation* op) noexcept {
  s.post(op);
}
void scheduler_defer(scheduler& s, operation* op) noexcept {
  s.defer(op);
}
void scheduler_complete(scheduler& s, operation* op) noexcept {
  s.complete(op);
}
void scheduler_complete_next(scheduler& s, operation* op) noexcept {
  s.complete_next(op);
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
