// SPDX-License-Identifier: BSL-1.0
#include <algorithm>

#include "context/scheduler/scheduler.hpp"

// Where operations wait: the inbox, the workers' local queues, the backlog.

namespace WEFT_NAMESPACE::detail {

namespace {

/// Hints.
template <class T>
T get(const scheduler_atomics::atomic<T>& variable) noexcept {
  return variable.load(std::memory_order_relaxed);
}

// Pushes of this thread to inboxes that nobody empties, since it last made a segment of one.
constinit thread_local unsigned pushed_in_vain = 0;

}  // namespace

// ---- to queue

void scheduler::note_queued(operation* op) noexcept {
  if (observation* const o = observed_.load(std::memory_order_acquire))
    o->queued(op);
}

/// While the worker is alone nobody sleeps, and the inbox goes first. Whatever is not the commonest
/// case is left to functions that this one ends in, so that it keeps nothing on the stack.
[[gnu::always_inline]] inline void scheduler::push(worker& w, operation* op) noexcept {
  if (get(attention_)) [[unlikely]]
    return push_attentive(w, op);
  if (!w.lock_.enter()) [[unlikely]]
    return push_locked(w, op);
  if (!inbox_.empty() || !w.local_.try_push(op)) [[unlikely]]
    return push_entered(w, op);
  w.lock_.exit();
  if (get(idle_) != 0) [[unlikely]]
    share(w);
}

[[gnu::noinline]] void scheduler::push_attentive(worker& w, operation* op) noexcept {
  note_queued(op);
  if (!w.lock_.enter())
    return push_locked(w, op);
  push_entered(w, op);
}

/// In the worker's lock.
[[gnu::noinline]] void scheduler::push_entered(worker& w, operation* op) noexcept {
  if (!get(several_))
    w.from_outside_.add(take_inbox(w.local_));
  w.local_.push(op);
  w.lock_.exit();
  if (get(idle_) != 0)
    share(w);
}

void scheduler::post(operation* op) noexcept {
  if (worker* const w = worker::current(*this)) [[likely]]
    push(*w, op);
  else
    post_from_outside(op);
}

/// Among several threads a continuation goes first, while what it works on is in this processor's
/// caches (worker::may_continue). It waits in the queue all the same: it is counted, stolen and
/// rescued as the others are. Alone, everything goes in the order in which it was posted.
[[gnu::always_inline]] inline void scheduler::push_next(worker& w, operation* op) noexcept {
  if (get(several_))
    push_next_of_several(w, op);
  else
    push(w, op);
}

[[gnu::noinline]] void scheduler::push_next_of_several(worker& w, operation* op) noexcept {
  if (!w.may_continue())
    return push(w, op);
  if (get(attention_)) [[unlikely]]
    note_queued(op);
  if (!w.lock_.enter()) [[unlikely]]
    return push_locked(w, op);
  w.local_.push_front(op);
  w.lock_.exit();
  if (get(idle_) != 0)
    share(w);
}

void scheduler::defer(operation* op) noexcept {
  if (worker* const w = worker::current(*this)) [[likely]]
    push_next(*w, op);
  else
    post_from_outside(op);
}

void scheduler::complete_next(operation* op) noexcept {
  if (worker* const w = worker::current(*this)) {
    --w->work_;
    push_next(*w, op);
  } else {
    complete(op);
  }
}

[[gnu::noinline]] void scheduler::post_from_outside(operation* op) noexcept {
  check_thread();
  push_from_outside(op);
}

void scheduler::complete(operation* op) noexcept {
  if (worker* const w = worker::current(*this)) {
    --w->work_;
    push(*w, op);
  } else {
    push_from_outside(op);
    work_finished();
  }
}

void scheduler::complete_uncounted(operation* op) noexcept {
  if (worker* const w = worker::current(*this)) [[likely]]
    push(*w, op);
  else
    push_from_outside(op);
}

void scheduler::complete(operation_queue& ops) noexcept {
  while (operation* op = ops.pop())
    complete(op);
}

/// The worker's lock is revoked.
[[gnu::noinline]] void scheduler::push_locked(worker& w, operation* op) noexcept {
  const lock l(mutex_);
  const bool single = is_single(w);
  if (single)
    w.from_outside_.add(take_inbox(w.local_));
  w.local_.push(op);
  if (!single) {
    wake_searcher();
    ensure_watch();
  }
}

void scheduler::push_from_outside(operation* op) noexcept {
  if (get(attention_)) [[unlikely]]
    note_queued(op);
  if (inbox_.push(op))
    pushed_in_vain = 1;
  else if (++pushed_in_vain == segmented_queue::limit)
    make_segment();
  wake_if_idle();
}

/// While operations come faster than workers take them, those who bring them cut them in segments,
/// whose order they turn round while they have them in their caches. But a worker that is alone
/// looks into the inbox only.
void scheduler::make_segment() noexcept {
  pushed_in_vain = 0;
  const lock l(mutex_);
  if (threads_ != 1)
    left_.from_outside += take_inbox(backlog_);
}

/// Returns how many it has moved.
std::size_t scheduler::take_inbox(segmented_queue& into) noexcept {
  if (inbox_.empty())
    return 0;
  const auto taken = inbox_.drain();
  into.append(taken.first, taken.last, taken.size);
  return taken.size;
}

/// A worker among several has pushed: what it cannot do at once others may.
[[gnu::noinline]] void scheduler::share(worker& w) noexcept {
  if (w.local_.size() >= get(surplus_) && !get(searching_)) {
    const lock l(mutex_);
    wake_searcher();
  } else if (!get(watching_)) {
    const lock l(mutex_);
    ensure_watch();
  }
}

// ---- to take

/// The slower ways to the next operation.
operation* scheduler::take_slowly(worker& w) noexcept {
  if (w.lock_.enter()) [[likely]] {
    if (!get(several_))
      w.from_outside_.add(take_inbox(w.local_));
    operation* const op = w.local_.pop();
    w.lock_.exit();
    if (op)
      return op;
  }
  return take_elsewhere(w);
}

operation* scheduler::take_elsewhere(worker& w) noexcept {
  const lock l(mutex_);
  const bool single = is_single(w);
  if (single) {
    w.from_outside_.add(take_inbox(w.local_));
  } else if (w.local_.empty()) {
    take_batch(w);
    if (w.local_.empty() && !steal(w))
      return nullptr;
  }
  operation* const op = w.local_.pop();
  if (!op)
    return nullptr;
  end_search(w, true);
  if (!single) {
    if (!backlog_.empty() || w.local_.size() >= get(surplus_))
      wake_searcher();
    if (!w.local_.empty() || awake_ > 1 || nobody_polls())
      ensure_watch();
  }
  return op;
}

/// Among several: empties the inbox into the backlog and takes some from there. Of a long backlog
/// it takes much at a time, so that the mutex is seldom wanted, and leaves the most to others.
void scheduler::take_batch(worker& w) noexcept {
  w.from_outside_.add(take_inbox(backlog_));
  if (backlog_.empty())
    return;
  w.local_.take_segments(
      backlog_, std::clamp<std::size_t>(backlog_.segments() / (4 * threads_), 1, largest_batch));
  end_search(w, true);
}

/// To the innermost worker of the only thread that is left, which is awake: alone, it does not look
/// there. (One that sleeps takes it when it wakes.)
void scheduler::give_backlog(worker& w) noexcept {
  end_search(w, true);
  if (backlog_.empty())
    return;
  w.lock_.revoke();
  w.local_.prepend(backlog_);
  w.lock_.restore();
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

/// What it has in many segments becomes the backlog, from where all take, also the victim, without
/// revoking its lock once more; of less, half; and of one that is stalled all. A single operation,
/// which has been pushed since its worker last looked, that one will run itself, the sooner as it
/// is not disturbed.
bool scheduler::steal_from(worker& victim, worker& w) noexcept {
  if (victim.local_.size() < (victim.is_stalled_ ? 1u : 2u))
    return false;
  victim.lock_.revoke();
  std::size_t stolen = backlog_.take_rest(victim.local_);
  if (victim.is_stalled_)
    stolen += w.local_.take_all(victim.local_);
  else if (stolen == 0)
    stolen = w.local_.take_half(victim.local_);
  victim.is_stalled_ = false;
  victim.lock_.restore();
  // For some rounds: what is stolen may stand behind what was here, and its memory be freed in the
  // midst of other.
  constexpr std::size_t rounds = 4, most = 1024;
  if (stolen != 0)
    scheduler_atomics::expect_foreign_memory(
        static_cast<std::uint32_t>(std::min(rounds * w.local_.size(), most)));
  if (w.local_.empty())
    take_batch(w);
  w.steals_.add(stolen != 0);
  w.stolen_.add(stolen);
  return stolen != 0;
}

/// After every turn: events get their turn, and so does what is not in the local queue, but once
/// per watch_interval where the local queue has plenty.
void scheduler::look_around(worker& w, clock::time_point deadline) noexcept {
  driver* const source = driver_.load(std::memory_order_acquire);
  const bool may_poll = source && !source->quiet();
  if (!may_poll && !get(several_)) {
    w.forget_turn();
    return;
  }
  const clock::time_point now = clock::now();
  w.adapt_turn(now, watch_interval, may_poll ? worker::poll_interval : worker::longest_turn);
  // One that has enough to do itself looks for more now and then.
  const bool takes =
      now - w.looked_around_ >= watch_interval ||
      (w.local_.size() < 2 * segmented_queue::limit && !(inbox_.empty() && backlog_.empty()));
  if (!may_poll && !takes)
    return;
  lock l(mutex_);
  if (takes && !is_single(w)) {
    w.looked_around_ = now;
    take_batch(w);
    if (look_for_stalled())
      steal_stalled(w);
    if (!backlog_.empty())
      wake_searcher();
    if (!w.local_.empty())
      ensure_watch();
  }
  if (may_poll && !poller_)
    poll(w, wait::no, deadline, l);
}

bool scheduler::nothing_queued() noexcept {
  return inbox_.empty(std::memory_order_seq_cst) && backlog_.empty();
}

}  // namespace WEFT_NAMESPACE::detail
