// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/io/timer_core.hpp>

#include "io/timer_heap.hpp"

namespace WEFT_NAMESPACE::detail {

/// The pending waits of one clock.
template <class Traits>
class basic_timer_queue {
 public:
  explicit basic_timer_queue(const timer_clock& clock) noexcept : clock_(&clock) {}

  const timer_clock* const clock_;
  basic_timer_heap<Traits> heap_;
  std::unique_ptr<basic_timer_queue> next_;
};

/// What timers, waits and their service share. One lock guards all of it, and every wait's and
/// timer's fields. Nothing that may block or call back runs while it is held, but a clock's own
/// functions; what completes is handed to the scheduler after unlocking.
template <class Traits>
class basic_timer_core {
  using atomics = typename Traits::atomics;
  using mutex = typename atomics::mutex;
  using scheduler = typename Traits::scheduler;
  using timer_heap = basic_timer_heap<Traits>;
  using timer_queue = basic_timer_queue<Traits>;
  using wait_link = basic_wait_link<atomics>;
  using wait_operation = typename Traits::wait_operation;

 public:
  basic_timer_core(scheduler& owner, void (*wake)(void*), void* wake_arg) noexcept
      : scheduler_(&owner), wake_(wake), wake_arg_(wake_arg) {}

  // ---- for the service

  std::int64_t prepare_wait() noexcept {
    const std::lock_guard lock(mutex_);
    std::int64_t wait = never;
    for (const timer_queue* queue = queues_.get(); queue; queue = queue->next_.get())
      if (const wait_operation* first = queue->heap_.front())
        wait = std::min(wait, time_left(*queue->clock_, first->expiry_));
    sleeps_until_.store(wait <= 0 ? awake : wake_time(wait), std::memory_order_relaxed);
    return wait;
  }

  void finish_wait() noexcept { sleeps_until_.store(awake, std::memory_order_relaxed); }

  void collect(operation_queue& ready) noexcept {
    const std::lock_guard lock(mutex_);
    for (timer_queue* queue = queues_.get(); queue; queue = queue->next_.get()) {
      if (queue->heap_.empty())
        continue;
      const std::int64_t now = queue->clock_->now();
      while (!queue->heap_.empty() && queue->heap_.front()->expiry_ <= now) {
        wait_operation* const op = queue->heap_.front();
        take_from_heap(op);
        op->state_ = wait_operation::state::due;
        ready.push(op);
      }
    }
  }

  bool empty() const noexcept { return pending_.load(std::memory_order_relaxed) == 0; }

  void shutdown(operation_queue& out) noexcept {
    std::unique_lock lock(mutex_);
    is_shut_down_ = true;
    for (timer_queue* queue = queues_.get(); queue; queue = queue->next_.get()) {
      while (wait_operation* op = queue->heap_.front()) {
        take_from_heap(op);
        unlink(op);
        claim(op);
        --references_;  // the service still holds one
        out.push(op);
      }
    }
  }

  // ---- for timers

  scheduler& owner() const noexcept { return *scheduler_; }

  timer_queue* attach(const timer_clock& clock) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<timer_queue>* place = &queues_;
    while (*place && (*place)->clock_ != &clock)
      place = &(*place)->next_;
    if (!*place)
      *place = std::make_unique<timer_queue>(clock);
    ++references_;
    return place->get();
  }

  void attach() noexcept {
    const std::lock_guard lock(mutex_);
    ++references_;
  }

  void detach() noexcept { release(std::unique_lock(mutex_)); }

  /// Gives the waits of a timer to one that is not attached yet, and attaches that.
  void attach(wait_link& to, wait_link& from) noexcept {
    const std::lock_guard lock(mutex_);
    ++references_;
    if (from.is_empty())
      return;
    wait_link* const first = from.next.load(std::memory_order_relaxed);
    wait_link* const last = from.prev;
    to.prev = last;
    to.next.store(first, std::memory_order_relaxed);
    first->prev = &to;
    last->next.store(&to, std::memory_order_relaxed);
    from.prev = &from;
    from.next.store(&from, std::memory_order_relaxed);
  }

  bool start(wait_link& waits, wait_operation* op) noexcept {
    std::unique_lock lock(mutex_);
    if (op->state_ == wait_operation::state::claimed)
      return false;
    if (is_shut_down_) {
      lock.unlock();
      op->destroy();
      return true;
    }
    scheduler_work_started(*scheduler_);
    op->is_counted_ = true;
    ++references_;
    if (op->state_ == wait_operation::state::cancelled) {
      lock.unlock();
      scheduler_complete(*scheduler_, op);
      return true;
    }
    op->sequence_ = ++sequence_;
    link(op, waits);

    timer_heap& heap = op->queue_->heap_;
    const bool is_first = heap.empty() || timer_heap::before(op, heap.front());
    bool wakes = false;
    if (is_first && sleeps_until_.load(std::memory_order_relaxed) != awake) {
      const timer_clock& clock = *op->queue_->clock_;
      if (op->expiry_ <= clock.now()) {
        op->state_ = wait_operation::state::due;
        lock.unlock();
        scheduler_complete(*scheduler_, op);
        return true;
      }
      if (wake_time(time_left(clock, op->expiry_)) < sleeps_until_.load(std::memory_order_relaxed))
        wakes = sleeps_until_.exchange(awake, std::memory_order_relaxed) != awake;
    }
    op->state_ = wait_operation::state::pending;
    heap.push(op);
    pending_.store(pending_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    lock.unlock();
    if (wakes)
      wake_(wake_arg_);
    return true;
  }

  std::size_t cancel(wait_link& waits, std::size_t limit) noexcept {
    operation_queue completed;
    std::size_t count = 0;
    {
      const std::lock_guard lock(mutex_);
      for (; count != limit && !waits.is_empty(); ++count)
        cancel_locked(first_of(waits), completed);
    }
    complete(completed);
    return count;
  }

  // ---- for waits

  void cancel(wait_operation* op) noexcept {
    operation_queue completed;
    {
      const std::lock_guard lock(mutex_);
      if (op->state_ == wait_operation::state::fresh)
        op->state_ = wait_operation::state::cancelled;
      else if (op->state_ == wait_operation::state::pending ||
               op->state_ == wait_operation::state::due)
        cancel_locked(op, completed);
    }
    complete(completed);
  }

  bool retract(wait_operation* op) noexcept {
    std::unique_lock lock(mutex_);
    switch (op->state_) {
      case wait_operation::state::fresh: claim(op); return false;
      case wait_operation::state::due:
        unlink(op);
        op->state_ = wait_operation::state::cancelled;
        return false;
      case wait_operation::state::cancelled:
      case wait_operation::state::claimed: return false;
      case wait_operation::state::pending: break;
    }
    take_from_heap(op);
    unlink(op);
    claim(op);
    release(std::move(lock));
    scheduler_work_finished(op->owner());
    return true;
  }

  /// Takes a wait out of everyone's reach. Returns whether it was cancelled before.
  bool settle(wait_operation* op) noexcept {
    std::unique_lock lock(mutex_);
    const auto state = op->state_;
    claim(op);
    if (state == wait_operation::state::due)
      unlink(op);
    if (op->is_counted_)
      release(std::move(lock));
    return state == wait_operation::state::cancelled;
  }

 private:
  static constexpr std::int64_t awake = (std::numeric_limits<std::int64_t>::min)();

  static std::int64_t time_left(const timer_clock& clock, std::int64_t expiry) noexcept {
    return std::max<std::int64_t>(0, clock.to_wait(expiry));
  }

  static std::int64_t wake_time(std::int64_t wait) noexcept {
    if (wait == never)
      return never;
    const std::int64_t now = steady_now();
    return now > never - wait ? never : now + wait;
  }

  static void claim(wait_operation* op) noexcept {
    op->state_ = wait_operation::state::claimed;
    op->is_claimed_ = true;
  }

  static void link(wait_operation* op, wait_link& list) noexcept {
    wait_link* const node = op;
    node->prev = list.prev;
    node->next.store(&list, std::memory_order_relaxed);
    list.prev->next.store(node, std::memory_order_relaxed);
    list.prev = node;
  }

  static void unlink(wait_operation* op) noexcept {
    wait_link* const node = op;
    wait_link* const next = node->next.load(std::memory_order_relaxed);
    next->prev = node->prev;
    node->prev->next.store(next, std::memory_order_relaxed);
  }

  static wait_operation* first_of(wait_link& list) noexcept {
    return static_cast<wait_operation*>(list.next.load(std::memory_order_relaxed));
  }

  void take_from_heap(wait_operation* op) noexcept {
    op->queue_->heap_.remove(op);
    pending_.store(pending_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }

  void cancel_locked(wait_operation* op, operation_queue& completed) noexcept {
    unlink(op);
    if (op->state_ == wait_operation::state::pending) {
      take_from_heap(op);
      completed.push(op);
    }
    op->state_ = wait_operation::state::cancelled;
  }

  void complete(operation_queue& completed) noexcept {
    if (!completed.empty())
      scheduler_complete(*scheduler_, completed);
  }

  void release(std::unique_lock<mutex> lock) noexcept {
    const bool last = --references_ == 0;
    lock.unlock();
    if (last)
      delete this;
  }

  mutex mutex_;
  scheduler* const scheduler_;
  void (*const wake_)(void*);
  void* const wake_arg_;
  std::unique_ptr<timer_queue> queues_;
  std::size_t references_ = 1;  // the service, its timers, and its waits that are not claimed
  std::uint64_t sequence_ = 0;
  bool is_shut_down_ = false;

  // Until when, by the steady clock, the poller sleeps; `awake` if it does not. Written with the
  // lock held, but by finish_wait: a stale value costs a superfluous wake-up, never a missing one.
  typename atomics::template atomic<std::int64_t> sleeps_until_{awake};
  // Written with the lock held; read without it as a hint.
  typename atomics::template atomic<std::size_t> pending_{0};
};

}  // namespace WEFT_NAMESPACE::detail
