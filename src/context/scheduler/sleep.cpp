// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <utility>

#include "context/scheduler/scheduler.hpp"

// What workers do that find nothing, and how they are woken.

namespace WEFT_NAMESPACE::detail {

/// Looks for work, awake. Whether there is any to be taken.
bool scheduler::spin(worker& w, clock::time_point deadline) noexcept {
  w.spun_at_ = w.ran();
  {
    const lock l(mutex_);
    if (std::exchange(spinning_, true))
      return false;
  }
  // The clock and the inbox are asked often; what takes the mutex or a system call, seldom.
  constexpr unsigned seldom = 16;
  const clock::time_point end = std::min(deadline, clock::now() + options_.spin);
  bool found = false;
  for (unsigned round = 1; !found; ++round) {
    found = !inbox_.empty() || stopped();
    if (!found && round % seldom == 0)
      if (lock l(mutex_, std::try_to_lock); l) {
        found = look_for_share(w) || look_for_stalled();
        if (!found && nobody_polls()) {
          poll(w, wait::no, deadline, l);
          found = !w.local_.empty() || !backlog_.empty();
        }
        if (!found && outstanding_.load(std::memory_order_relaxed) + w.work_ == credit)
          break;
      }
    if (found || clock::now() >= end)
      break;
    scheduler_atomics::pause();
  }
  const lock l(mutex_);
  spinning_ = false;
  return found;
}

/// Whether somebody has left something that a worker which has nothing may take.
bool scheduler::look_for_share(const worker& w) const noexcept {
  bool found = !w.local_.empty() || !backlog_.empty();
  for (const worker* other = workers_; other && !found; other = other->next_)
    found = other != &w && other->local_.size() >= surplus_.load(std::memory_order_relaxed);
  return found;
}

/// Nothing was queued: looks for events, and sleeps if it may. False if this worker is to leave.
bool scheduler::idle(worker& w, wait mode, clock::time_point deadline) noexcept {
  if (options_.spin > options_.spin.zero() && mode == wait::yes && w.spun_at_ != w.ran() &&
      spin(w, deadline))
    return true;
  lock l(mutex_);
  if (!w.local_.empty())
    return true;  // one that left has given it its backlog since this worker looked there
  end_search(w, false);
  if (!settle(w)) {
    outstanding_.fetch_add(credit, std::memory_order_relaxed);
    return false;
  }
  w.settled_ = true;
  w.forget_turn();
  --awake_;
  if (!is_single(w) && mode == wait::yes)
    look_for_stalled();
  bool more = false;
  if (nobody_polls()) {
    more = poll(w, mode, deadline, l);
  } else if (mode == wait::yes) {
    park(w, deadline, l);
  }
  woke();
  w.settled_ = false;
  if (is_single(w)) {
    w.local_.prepend(backlog_);
    end_search(w, true);
  }
  outstanding_.fetch_add(credit, std::memory_order_relaxed);
  return mode == wait::yes || more || !w.local_.empty() || !nothing_queued();
}

/// As the poller. Asleep, it is counted in idle_ until somebody wakes it or it wakes by itself.
/// Returns whether the driver may have more at once.
bool scheduler::poll(worker& w, wait mode, clock::time_point deadline, lock& l) noexcept {
  std::int64_t timeout = 0;
  if (mode == wait::yes) {
    idle_.fetch_add(1, std::memory_order_seq_cst);
    if (!nothing_queued() || stopped()) {
      idle_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    timeout = driver::forever;
    const auto sleep_at_most = [&timeout](clock::duration d) {
      const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
      timeout = std::clamp<std::int64_t>(ns, 0, timeout);
    };
    if (deadline != no_deadline)
      sleep_at_most(deadline - clock::now());
    if (awake_ != 0 && !watcher_) {
      watch(w);
      sleep_at_most(watch_interval);
    }
    poller_asleep_ = true;
  }
  poller_ = &w;
  ++polls_;
  w.polls_.add();
  operation_queue ready;
  driver* const source = driver_.load(std::memory_order_relaxed);
  l.unlock();
  const bool more = source->poll(timeout, ready);
  l.lock();
  poller_ = nullptr;
  if (mode == wait::yes && poller_asleep_) {
    poller_asleep_ = false;
    idle_.fetch_sub(1, std::memory_order_relaxed);
  }
  if (watcher_ == &w)
    end_watch();
  receive(w, ready);
  return more;
}

/// Takes what a poll has brought. It was counted as work, and is in a queue instead.
void scheduler::receive(worker& w, operation_queue& ready) noexcept {
  if (ready.empty())
    return;
  if (observation* const observed = observed_.load(std::memory_order_acquire))
    for (operation* op = ready.front(); op; op = operation_queue::next(op))
      observed->queued(op);
  const bool single = is_single(w);
  // Alone, the inbox goes first only among posts; events have no order against them.
  const std::size_t count = (single ? w.local_ : backlog_).append(ready);
  w.events_.add(count);
  w.work_ -= static_cast<std::int64_t>(count);
  if (single)
    return;
  end_search(w, true);
  take_batch(w);
  if (!backlog_.empty() || w.local_.size() >= surplus_.load(std::memory_order_relaxed))
    wake_searcher();
  ensure_watch();
}

void scheduler::park(worker& w, clock::time_point deadline, lock& l) noexcept {
  idle_.fetch_add(1, std::memory_order_seq_cst);
  if (!nothing_queued() || stopped()) {
    idle_.fetch_sub(1, std::memory_order_relaxed);
    return;
  }
  w.notified_ = false;
  w.parks_.add();
  if (awake_ != 0 && !watcher_) {
    watch(w);
  } else {
    list(w);
  }
  for (;;) {
    const bool watches = watcher_ == &w;
    const auto until = watches ? std::min(deadline, clock::now() + watch_interval) : deadline;
    if (until == no_deadline)
      w.wakeup_.wait(l);
    else
      w.wakeup_.wait_until(l, until);
    if (w.notified_)
      return;
    if (deadline != no_deadline && clock::now() >= deadline)
      break;
    if (watcher_ != &w || !watches)
      continue;
    if (awake_ == 0) {
      end_watch();
      list(w);
    } else if (look_for_stalled() || !nothing_queued()) {
      break;
    }
  }
  unlist(w);
}

void scheduler::list(worker& w) noexcept {
  w.next_parked_ = parked_;
  parked_ = &w;
}

/// Takes a parked worker that goes on out of the lists.
void scheduler::unlist(worker& w) noexcept {
  if (watcher_ == &w) {
    end_watch();
  } else {
    worker** link = &parked_;
    while (*link != &w)
      link = &(*link)->next_parked_;
    *link = w.next_parked_;
  }
  idle_.fetch_sub(1, std::memory_order_relaxed);
}

// ---- waking

void scheduler::unpark(worker& w) noexcept {
  unlist(w);
  w.notified_ = true;
  w.wakeups_.add();
  w.wakeup_.notify_one();
}

void scheduler::wake_poller() noexcept {
  poller_asleep_ = false;
  poller_->wakeups_.add();
  idle_.fetch_sub(1, std::memory_order_relaxed);
  driver_.load(std::memory_order_relaxed)->wake();
}

/// One that is parked if there is one, else the poller; the watcher last.
void scheduler::wake_one() noexcept {
  if (parked_)
    unpark(*parked_);
  else if (poller_asleep_)
    wake_poller();
  else if (watcher_ && watcher_ != poller_)
    unpark(*watcher_);
}

/// Wakes one to look for work that others have; not while one is at it.
void scheduler::wake_searcher() noexcept {
  wake_foreign_loop();
  if (searching_.load(std::memory_order_relaxed))
    return;
  worker* w = parked_ ? parked_ : poller_asleep_ ? poller_ : watcher_;
  if (!w || (w == poller_ && !poller_asleep_))
    return;
  searching_.store(true, std::memory_order_relaxed);
  w->searches_ = true;
  wake_one();
}

void scheduler::end_search(worker& w, bool found) noexcept {
  if (!w.searches_)
    return;
  w.searches_ = false;
  searching_.store(false, std::memory_order_relaxed);
  const unsigned surplus = surplus_.load(std::memory_order_relaxed);
  surplus_.store(found ? min_surplus : std::min(2 * surplus, max_surplus),
                 std::memory_order_relaxed);
}

void scheduler::wake_all() noexcept {
  while (parked_)
    unpark(*parked_);
  if (watcher_ && watcher_ != poller_)
    unpark(*watcher_);
  if (poller_asleep_)
    wake_poller();
  wake_foreign_loop();
}

void scheduler::wake_if_idle() noexcept {
  if (idle_.load(std::memory_order_seq_cst) == 0)
    return;
  const lock l(mutex_);
  wake_searcher();
}

// ---- the foreign loop; all under mutex_

/// The only worker is about to leave. Nothing is left prepared, or in the driver, that would tell
/// the loop nothing new; but others may enter meanwhile.
void scheduler::arm(worker& w, lock& l) noexcept {
  arming_ = true;
  poller_ = &w;
  operation_queue ready;
  driver* const source = driver_.load(std::memory_order_relaxed);
  l.unlock();
  source->poll(0, ready);
  source->arm();
  l.lock();
  poller_ = nullptr;
  arming_ = false;
  receive(w, ready);
}

/// A worker has left. If others stay, they tend to what the driver was armed for.
void scheduler::foreign_loop_sleeps() noexcept {
  if (workers_) {
    if (!arming_)
      driver_.load(std::memory_order_relaxed)->disarm();
    return;
  }
  foreign_asleep_ = true;
  idle_.fetch_add(1, std::memory_order_seq_cst);
  if (!nothing_queued() && !stopped())
    wake_foreign_loop();
}

void scheduler::foreign_loop_wakes() noexcept {
  if (foreign_asleep_) {
    foreign_asleep_ = false;
    idle_.fetch_sub(1, std::memory_order_relaxed);
  }
}

void scheduler::wake_foreign_loop() noexcept {
  if (foreign_asleep_) {
    foreign_loop_wakes();
    driver_.load(std::memory_order_relaxed)->wake();
  }
}

void scheduler::serve_foreign_loop() noexcept {
  const lock l(mutex_);
  has_foreign_loop_ = true;
}

// ---- watching

void scheduler::watch(worker& w) noexcept {
  watcher_ = &w;
  watching_.store(true, std::memory_order_relaxed);
}

void scheduler::end_watch() noexcept {
  watcher_ = nullptr;
  watching_.store(false, std::memory_order_relaxed);
}

/// The caller is awake and leaves something behind the handler that it is about to run.
void scheduler::ensure_watch() noexcept {
  if (watcher_)
    return;
  if (worker* w = parked_) {
    parked_ = w->next_parked_;
    watch(*w);
    w->wakeup_.notify_one();  // it goes on sleeping, but with a limit
  } else if (poller_asleep_) {
    wake_poller();  // it goes to sleep again, as the watcher
  }
}

/// Marks the workers that have something queued and have taken nothing in the last watch_interval.
/// Whether there are any, or nobody polls nor has polled in that time.
bool scheduler::look_for_stalled() noexcept {
  const clock::time_point now = clock::now();
  if (now - last_look_ < watch_interval)
    return false;
  last_look_ = now;
  bool found = nobody_polls() && polls_ == seen_polls_;
  seen_polls_ = polls_;
  for (worker* w = workers_; w; w = w->next_) {
    const std::uint64_t ran = w->ran();
    w->is_stalled_ = !w->local_.empty() && ran == w->seen_ran_;
    w->seen_ran_ = ran;
    found = found || w->is_stalled_;
  }
  return found;
}

}  // namespace WEFT_NAMESPACE::detail
