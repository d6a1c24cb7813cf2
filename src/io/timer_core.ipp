// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include <weft/io/timer_core.hpp>

#include "io/timer_lock.hpp"
#include "io/timer_wheel.hpp"

namespace WEFT_NAMESPACE::detail {

/// The pending waits of one clock.
template <class Traits>
class basic_timer_queue {
 public:
  explicit basic_timer_queue(const timer_clock& clock) noexcept
      : clock_(&clock), wheel_(clock.now()) {}

  const timer_clock* const clock_;
  timer_wheel wheel_;
  std::unique_ptr<basic_timer_queue> next_;
};

/// What timers, waits and their service share. One lock guards all of it, and every wait's and
/// timer's fields, but for those steps of a wait that its states say are made without it
/// (basic_wait_node). Nothing that may block or call back runs while it is held, but a clock's own
/// functions; what completes is handed to the scheduler after unlocking.
///
/// Each poll takes a batch of what is due at most, so what is queued meanwhile, and what the poller
/// finds beside it, waits for one batch, however many expire together.
template <class Traits>
class basic_timer_core {
  using atomics = typename Traits::atomics;
  using mutex = typename Traits::lock;
  using scheduler = typename Traits::scheduler;
  using timer_queue = basic_timer_queue<Traits>;
  using wait_link = basic_wait_link<atomics>;
  using wait_operation = typename Traits::wait_operation;
  using state = typename basic_wait_node<Traits>::state;

 public:
  basic_timer_core(scheduler& owner, void (*wake)(void*), void* wake_arg) noexcept
      : mutex_(make_mutex(owner)), scheduler_(&owner), wake_(wake), wake_arg_(wake_arg) {}

  // ---- for the service

  std::int64_t prepare_wait() noexcept {
    const std::lock_guard lock(mutex_);
    std::int64_t wait = never;
    for (timer_queue* queue = queues_.get(); queue; queue = queue->next_.get())
      if (const std::int64_t bound = queue->wheel_.bound(); bound != never)
        wait = std::min(wait, time_left(*queue->clock_, bound));
    sleeps_until_.store(wait <= 0 ? awake : wake_time(wait), std::memory_order_relaxed);
    return wait;
  }

  void finish_wait() noexcept { sleeps_until_.store(awake, std::memory_order_relaxed); }

  bool collect(operation_queue& ready) noexcept {
    const std::lock_guard lock(mutex_);
    unsigned moves = moves_at_once;
    std::ptrdiff_t count = 0;
    for (timer_queue* queue = queues_.get(); queue; queue = queue->next_.get()) {
      if (queue->wheel_.bound() == never)
        continue;
      const std::int64_t now = queue->clock_->now();
      while (count != Traits::batch) {
        timer_entry* const e = queue->wheel_.take_due(now, moves);
        if (!e)
          break;
        auto* const op = static_cast<wait_operation*>(e);
        become_due(op);
        ready.push(op);
        ++count;
      }
    }
    count_pending(-count);
    return count == Traits::batch || moves == 0;
  }

  std::size_t pending() const noexcept { return pending_.load(std::memory_order_relaxed); }
  bool empty() const noexcept { return pending() == 0; }

  void shutdown(operation_queue& out) noexcept {
    const std::lock_guard lock(mutex_);
    is_shut_down_ = true;
    sleeps_until_.store(never, std::memory_order_relaxed);  // for start() to look
    for (timer_queue* queue = queues_.get(); queue; queue = queue->next_.get()) {
      while (timer_entry* const e = queue->wheel_.take_any()) {
        auto* const op = static_cast<wait_operation*>(e);
        unlink(op);
        claim(op);
        out.push(op);
      }
    }
    pending_.store(0, std::memory_order_relaxed);
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
    make_empty(from);
  }

  bool start(wait_link& waits, wait_operation* op) noexcept {
    return enter() ? start_locked<true>(waits, op) : start_by_mutex(waits, op);
  }

  /// Cancels the first wait of a timer, or all.
  std::size_t cancel(wait_link& waits, bool all) noexcept {
    return enter() ? cancel_locked<true>(waits, all) : cancel_by_mutex(waits, all);
  }

  // ---- for waits

  void cancel(wait_operation* op) noexcept {
    wait_operation* completed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const state now = state_of(op);
      if (now == state::fresh)
        set_state(op, state::cancelled);
      else if (now == state::pending || now == state::due)
        completed = cancel_one(op);
    }
    if (completed)
      scheduler_->complete(completed);
  }

  bool retract(wait_operation* op) noexcept {
    std::unique_lock lock(mutex_);
    switch (state_of(op)) {
      case state::fresh: claim(op); return false;
      case state::due: cancel_one(op); return false;
      case state::recalled:
      case state::cancelled:
      case state::claimed: return false;
      case state::pending: break;
    }
    take_from_wheel(op);
    unlink(op);
    claim(op);
    lock.unlock();
    op->owner().work_finished();
    return true;
  }

  /// Takes a wait out of everyone's reach. Returns whether it was cancelled before.
  bool settle(wait_operation* op) noexcept {
    if (op->claim_cancelled())
      return true;
    if (const state now = state_of(op); now != state::due && now != state::recalled) {
      claim(op);
      return false;
    }
    std::unique_lock lock(mutex_);
    const bool is_cancelled = state_of(op) == state::recalled;
    if (!is_cancelled)
      unlink(op);
    claim(op);
    release(std::move(lock));
    return is_cancelled;
  }

 private:
  // ---- start and cancel: the ways that most take, for the owner of a biased lock and for others.
  // On them nothing is called but as the last thing, so that nothing is kept on the stack.

  bool enter() noexcept {
    if constexpr (requires { mutex_.enter(); })
      return mutex_.enter();
    else
      return false;
  }

  template <bool Entered>
  void unlock() noexcept {
    if constexpr (requires { mutex_.exit(); } && Entered)
      mutex_.exit();
    else
      mutex_.unlock();
  }

  template <bool Entered>
  [[gnu::always_inline]] bool start_locked(wait_link& waits, wait_operation* op) noexcept {
    if (state_of(op) != state::fresh || sleeps_until_.load(std::memory_order_relaxed) != awake ||
        !op->queue_->wheel_.takes_to_slot(op)) [[unlikely]]
      return start_rarely(waits, op);
    link(op, waits);
    set_state(op, state::pending);
    op->queue_->wheel_.push_to_slot(op);
    count_pending(1);
    scheduler_->work_started();
    unlock<Entered>();
    return true;
  }

  [[gnu::noinline]] bool start_by_mutex(wait_link& waits, wait_operation* op) noexcept {
    mutex_.lock();
    return start_locked<false>(waits, op);
  }

  template <bool Entered>
  [[gnu::always_inline]] std::size_t cancel_locked(wait_link& waits, bool all) noexcept {
    if (waits.is_empty()) [[unlikely]] {
      unlock<Entered>();
      return 0;
    }
    wait_operation& op = first_of(waits);
    if (!is_alone(op, waits) || state_of(&op) != state::pending ||
        !op.queue_->wheel_.has_in_slot(&op)) [[unlikely]]
      return cancel_several(waits, all);
    make_empty(waits);
    op.queue_->wheel_.remove_from_slot(&op);
    count_pending(-1);
    set_state(&op, state::cancelled);
    unlock<Entered>();
    scheduler_->complete(&op);
    return 1;
  }

  [[gnu::noinline]] std::size_t cancel_by_mutex(wait_link& waits, bool all) noexcept {
    mutex_.lock();
    return cancel_locked<false>(waits, all);
  }

  static mutex make_mutex(const scheduler& owner) noexcept {
    if constexpr (std::is_constructible_v<mutex, bool>)
      return mutex(owner.may_bias());
    else
      return mutex();
  }

  static constexpr std::int64_t awake = 0;         // is before any time of the steady clock
  static constexpr unsigned moves_at_once = 1024;  // of a wheel's, with the lock held

  static std::int64_t time_left(const timer_clock& clock, std::int64_t expiry) noexcept {
    return std::max<std::int64_t>(0, clock.to_wait(expiry));
  }

  static std::int64_t wake_time(std::int64_t wait) noexcept {
    if (wait == never)
      return never;
    const std::int64_t now = steady_now();
    return now > never - wait ? never : now + wait;
  }

  static state state_of(const wait_operation* op) noexcept {
    return op->state_.load(std::memory_order_relaxed);
  }
  static void set_state(wait_operation* op, state s) noexcept {
    op->state_.store(s, std::memory_order_relaxed);
  }

  void become_due(wait_operation* op) noexcept {
    set_state(op, state::due);
    ++references_;
  }

  static void claim(wait_operation* op) noexcept { op->become_claimed(); }

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

  static void make_empty(wait_link& list) noexcept {
    list.prev = &list;
    list.next.store(&list, std::memory_order_relaxed);
  }

  static bool is_alone(const wait_link& node, const wait_link& list) noexcept {
    return node.next.load(std::memory_order_relaxed) == &list;
  }

  static wait_operation& first_of(wait_link& list) noexcept {
    return static_cast<wait_operation&>(*list.next.load(std::memory_order_relaxed));
  }

  // ---- the rarer ways of start and cancel; the lock is held, and left

  /// Starts a wait that was claimed or cancelled before; or after the end of the service; or while
  /// the poller sleeps: wakes it if it would for too long, and goes without it for what is due
  /// already; or that is due, or nearly.
  [[gnu::noinline]] bool start_rarely(wait_link& waits, wait_operation* op) noexcept {
    std::unique_lock lock(mutex_, std::adopt_lock);
    const state now = state_of(op);
    if (now == state::claimed)
      return false;
    if (is_shut_down_) {
      lock.unlock();
      op->destroy();
      return true;
    }
    bool ready = now == state::cancelled;
    bool wakes = false;
    if (!ready) {
      link(op, waits);
      if (sleeps_until_.load(std::memory_order_relaxed) != awake &&
          op->expiry_ < op->queue_->wheel_.bound()) {
        const timer_clock& clock = *op->queue_->clock_;
        ready = op->expiry_ <= clock.now();
        if (ready)
          become_due(op);
        else
          wakes = ends_sleep(time_left(clock, op->expiry_));
      }
      if (!ready)
        become_pending(op);
    }
    lock.unlock();
    if (ready) {
      scheduler_->work_started();
      scheduler_->complete(op);
    } else if (wakes) {
      wake_(wake_arg_);
    }
    return true;
  }

  /// Cancels the first wait of a timer, or all. Returns their number.
  [[gnu::noinline]] std::size_t cancel_several(wait_link& waits, bool all) noexcept {
    std::unique_lock lock(mutex_, std::adopt_lock);
    operation_queue completed;
    std::size_t count = 0;
    do {
      if (wait_operation* const op = cancel_one(&first_of(waits)))
        completed.push(op);
      ++count;
    } while (all && !waits.is_empty());
    lock.unlock();
    if (!completed.empty())
      scheduler_->complete(completed);
    return count;
  }

  void become_pending(wait_operation* op) noexcept {
    set_state(op, state::pending);
    op->queue_->wheel_.push(op);
    count_pending(1);
    scheduler_->work_started();
  }

  void take_from_wheel(wait_operation* op) noexcept {
    op->queue_->wheel_.remove(op);
    count_pending(-1);
  }

  void count_pending(std::ptrdiff_t change) noexcept {
    pending_.store(pending_.load(std::memory_order_relaxed) + static_cast<std::size_t>(change),
                   std::memory_order_relaxed);
  }

  /// Whether the poller has to be woken for something in that time.
  bool ends_sleep(std::int64_t wait) noexcept {
    return wake_time(wait) < sleeps_until_.load(std::memory_order_relaxed) &&
           sleeps_until_.exchange(awake, std::memory_order_relaxed) != awake;
  }

  /// Cancels a pending or due wait. Returns it if it is to be queued.
  wait_operation* cancel_one(wait_operation* op) noexcept {
    if (state_of(op) == state::due) {
      unlink(op);
      set_state(op, state::recalled);
      return nullptr;
    }
    cancel_pending(op);
    return op;
  }

  void cancel_pending(wait_operation* op) noexcept {
    unlink(op);
    take_from_wheel(op);
    set_state(op, state::cancelled);
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
  std::size_t references_ = 1;  // the service, its timers, and waits that are due or recalled
  bool is_shut_down_ = false;

  // Until when, by the steady clock, the poller sleeps; `awake` if it does not. Written with the
  // lock held, but by finish_wait: a stale value costs a superfluous wake-up, never a missing one.
  typename atomics::template atomic<std::int64_t> sleeps_until_{awake};
  // Written with the lock held; read without it as a hint.
  typename atomics::template atomic<std::size_t> pending_{0};
};

}  // namespace WEFT_NAMESPACE::detail
