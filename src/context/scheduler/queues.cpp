// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/scheduler.hpp"

// Where operations wait: the inbox, the workers' local queues, the backlog.

namespace WEFT_NAMESPACE::detail {

namespace {

/// Statistics and hints that only their owner writes.
template <class T>
void set(scheduler_atomics::atomic<T>& variable, T value) noexcept {
  variable.store(value, std::memory_order_relaxed);
}
template <class T>
T get(const scheduler_atomics::atomic<T>& variable) noexcept {
  return variable.load(std::memory_order_relaxed);
}

}  // namespace

void scheduler::push(worker* w, operation* op) noexcept {
  if (observed_.load(std::memory_order_relaxed)) [[unlikely]]
    return push_observed(w, op);
  enqueue(w, op);
}

void scheduler::push_observed(worker* w, operation* op) noexcept {
  if (observation* o = observed_.load(std::memory_order_acquire))
    o->queued(op);
  enqueue(w, op);
}

inline void scheduler::enqueue(worker* w, operation* op) noexcept {
  if (!w) {
    inbox_.push(op);
    wake_if_idle();
    return;
  }
  if (!w->lock_.enter()) [[unlikely]] {
    const lock l(mutex_);
    push_locked(*w, op);
    return;
  }
  const bool several = get(several_);
  if (!several && !inbox_.empty()) [[unlikely]]
    take_inbox(*w);
  const bool overfull = push_local(*w, op);
  w->lock_.exit();
  if (several)
    share(*w, overfull);
}

// ---- the local queue, whose lock is held

/// Whether the queue is now longer than a worker's among several may be.
bool scheduler::push_local(worker& w, operation* op) noexcept {
  w.local_.push(op);
  w.queued_.add();
  const unsigned size = get(w.size_) + 1;
  set(w.size_, size);
  return size > worker::local_limit || !w.is_counted_;
}

operation* scheduler::pop_local(worker& w) noexcept {
  operation* op = w.local_.pop();
  if (op) {
    set(w.size_, get(w.size_) - 1);
    set(w.taken_, get(w.taken_) + 1);
  }
  return op;
}

void scheduler::take_inbox(worker& w) noexcept {
  const std::size_t count = inbox_.drain(w.local_);
  w.work_ += static_cast<std::int64_t>(count);
  w.from_outside_.add(count);
  set(w.size_, get(w.size_) + static_cast<unsigned>(count));
}

// ---- among several

/// As push, under mutex_, which excludes those who could have revoked the queue's lock.
void scheduler::push_locked(worker& w, operation* op) noexcept {
  const bool single = is_single(w);
  if (single)
    take_inbox(w);
  const bool overfull = push_local(w, op);
  if (single)
    return;
  if (overfull)
    overflow(w);
  wake_searcher();
  ensure_watch();
}

/// A worker among several has pushed: what it cannot do at once others may.
void scheduler::share(worker& w, bool overfull) noexcept {
  if (overfull) [[unlikely]] {
    const lock l(mutex_);
    overflow(w);
    wake_searcher();
  }
  if (idle_.load(std::memory_order_relaxed) == 0)
    return;
  const bool surplus = get(w.size_) >= get(surplus_);
  if (surplus && !get(searching_)) {
    const lock l(mutex_);
    wake_searcher();
  } else if (!get(watching_)) {
    const lock l(mutex_);
    ensure_watch();
  }
}

/// Moves a local queue to the backlog, unless its worker is alone: then it may be of any length.
void scheduler::overflow(worker& w) noexcept {
  if (is_single(w))
    return;
  backlog_.splice(w.local_);
  set(w.size_, 0u);
  w.is_counted_ = true;
}

operation* scheduler::take(worker& w) noexcept {
  if (w.lock_.enter()) [[likely]] {
    if (!inbox_.empty() && !get(several_)) [[unlikely]]
      take_inbox(w);
    operation* op = pop_local(w);
    w.lock_.exit();
    if (op) [[likely]]
      return op;
  }
  return take_elsewhere(w);
}

operation* scheduler::take_elsewhere(worker& w) noexcept {
  const lock l(mutex_);
  const bool single = is_single(w);
  if (single) {
    take_all(w);
  } else if (w.local_.empty()) {
    take_batch(w);
    if (w.local_.empty() && !steal(w))
      return nullptr;
  }
  operation* op = pop_local(w);
  if (!op)
    return nullptr;
  end_search(w, true);
  if (!single) {
    if (!backlog_.empty() || get(w.size_) >= get(surplus_))
      wake_searcher();
    if (!w.local_.empty() || awake_ > 1 || nobody_polls())
      ensure_watch();
  }
  return op;
}

/// The only worker takes everything.
void scheduler::take_all(worker& w) noexcept {
  w.is_counted_ = false;
  w.local_.splice(backlog_);
  take_inbox(w);
}

/// To the only worker that is left: alone, it does not look there. What is in the backlog came
/// before what that worker has queued since.
void scheduler::give_backlog(worker& w) noexcept {
  w.lock_.revoke();
  w.is_counted_ = false;
  backlog_.splice(w.local_);
  w.local_.splice(backlog_);
  w.lock_.restore();
}

/// Among several: empties the inbox into the backlog and takes some from there.
void scheduler::take_batch(worker& w) noexcept {
  if (!w.is_counted_)
    overflow(w);
  const std::size_t drained = inbox_.drain(backlog_);
  w.work_ += static_cast<std::int64_t>(drained);
  w.from_outside_.add(drained);
  unsigned count = 0;
  for (; count != worker::batch; ++count) {
    operation* op = backlog_.pop();
    if (!op)
      break;
    w.local_.push(op);
  }
  set(w.size_, get(w.size_) + count);
  if (count != 0)
    end_search(w, true);
}

/// Takes a share of what another worker has queued.
bool scheduler::steal(worker& w) noexcept {
  w.steal_attempts_.add();
  // Those after it in the list first: so thieves spread over the victims.
  for (worker* victim = w.next_; victim; victim = victim->next_)
    if (steal_from(*victim, w))
      return true;
  for (worker* victim = workers_; victim != &w; victim = victim->next_)
    if (steal_from(*victim, w))
      return true;
  return false;
}

/// Takes what waits behind handlers that block: nobody may have time to search.
void scheduler::steal_stalled(worker& w) noexcept {
  for (worker* victim = workers_; victim; victim = victim->next_)
    if (victim != &w && victim->is_stalled_)
      steal_from(*victim, w);
}

bool scheduler::steal_from(worker& victim, worker& w) noexcept {
  if (victim.is_counted_ && get(victim.size_) < 2 && !victim.is_stalled_)
    return false;
  victim.lock_.revoke();
  if (!victim.is_counted_) {
    overflow(victim);
    victim.lock_.restore();
    const unsigned before = get(w.size_);
    take_batch(w);
    count_stolen(w, get(w.size_) - before);
    return !w.local_.empty();
  }
  const unsigned size = get(victim.size_);
  const unsigned count = victim.is_stalled_ ? size : (size + 1) / 2;
  victim.is_stalled_ = false;
  for (unsigned i = 0; i != count; ++i)
    w.local_.push(victim.local_.pop());
  set(victim.size_, size - count);
  victim.lock_.restore();
  set(w.size_, get(w.size_) + count);
  count_stolen(w, count);
  return count != 0;
}

void scheduler::count_stolen(worker& w, unsigned count) noexcept {
  w.steals_.add(count != 0);
  w.stolen_.add(count);
}

/// After every turn: events, and what is not in the local queue, get theirs.
void scheduler::look_around(worker& w, clock::time_point deadline) noexcept {
  driver* const source = driver_.load(std::memory_order_acquire);
  const bool may_poll = source && !source->quiet();
  if (!may_poll && !get(several_))
    return;
  w.adapt_turn(clock::now(), watch_interval);
  lock l(mutex_);
  if (!is_single(w)) {
    take_batch(w);
    if (look_for_stalled())
      steal_stalled(w);
  }
  if (may_poll && !poller_)
    poll(w, wait::no, deadline, l);
}

bool scheduler::nothing_queued() noexcept {
  return inbox_.empty(std::memory_order_seq_cst) && backlog_.empty();
}

void scheduler::post(operation* op) noexcept {
  worker* w = worker::current(*this);
  if (w)
    ++w->work_;
  else
    check_thread();
  push(w, op);
}

void scheduler::complete(operation* op) noexcept {
  if (worker* w = worker::current(*this)) {
    push(w, op);
  } else {
    push(nullptr, op);
    work_finished();  // it is counted again when it is taken out of the inbox
  }
}

void scheduler::complete(operation_queue& ops) noexcept {
  while (operation* op = ops.pop())
    complete(op);
}

}  // namespace WEFT_NAMESPACE::detail
