// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <weft/base/operation_origin.hpp>
#include <weft/base/worker_counts.hpp>

#include "context/scheduler/atomics.hpp"
#include "context/scheduler/biased_lock.hpp"
#include "context/scheduler/segmented_queue.hpp"

namespace WEFT_NAMESPACE::detail {

class scheduler;

/// A count with one writer at a time, which others read as a hint: it costs a load, an addition and
/// a store. Not of scheduler_atomics, for no protocol depends on it.
class statistic {
 public:
  void add(std::uint64_t n = 1) noexcept { value_.store(value() + n, std::memory_order_relaxed); }
  std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// One thread's stay in `run()` (or one of its siblings). Calls nested in handlers make a
/// chain of workers.
class alignas(64) worker {  // a cache line: its neighbours are other threads'
 public:
  static constexpr unsigned poll_interval = scheduler_atomics::poll_interval;
  /// Of a turn at whose beginning there was no event to look for, among short handlers.
  static constexpr unsigned longest_turn = 8 * poll_interval;
  /// So many continuations in a row go before what was queued earlier.
  static constexpr unsigned most_continued = 3;

  worker(scheduler& owner, bool biased) noexcept;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  /// The calling thread's innermost worker of `owner`, or null.
  static worker* current(const scheduler& owner) noexcept {
    worker* w = innermost_;
    while (w && &w->owner_ != &owner) [[unlikely]]
      w = w->outer_;
    return w;
  }

  /// The calling thread's innermost worker, or null.
  static worker* innermost() noexcept { return innermost_; }

  /// A strand's function is about to be called.
  void calls(const operation& function) noexcept {
    strand_calls_.add();
    running_.store(function.ending(), std::memory_order_relaxed);
    find_origin(&function, origin_);
  }

  // ---- for those who look in from outside (observe/), under the scheduler's mutex

  /// The next worker of the same thread, further out, or null.
  const worker* outer() const noexcept { return outer_; }
  scheduler& owner() const noexcept { return owner_; }
  /// Tells the stays in run() of a scheduler apart.
  std::uint64_t id() const noexcept { return id_; }
  std::thread::id thread() const noexcept { return thread_; }
  pthread_t native_thread() const noexcept { return native_thread_; }
  /// Whether it looks for events or sleeps: it is in no handler.
  bool is_asleep() const noexcept { return settled_; }
  /// Goes up with every handler that begins.
  std::uint64_t handlers() const noexcept { return ran() + strand_calls_.value(); }
  /// The function of the operation that runs or, between handlers, of the last one that did.
  operation::function running() const noexcept { return running_.load(std::memory_order_relaxed); }
  /// Where that operation was made, if anybody asked for it in time (see observation).
  const void* origin() const noexcept { return origin_.load(std::memory_order_acquire); }
  /// How many operations wait in the local queue, at most.
  std::size_t queue_length() const noexcept { return local_.size(); }
  worker_counts counts() const noexcept;

  /// The same thread's worker of the same scheduler in which this call is nested, or null.
  worker* further_out() const noexcept {
    worker* w = outer_;
    while (w && &w->owner_ != &owner_)
      w = w->outer_;
    return w;
  }

 private:
  friend class scheduler;
  friend class scheduler_model;

  static constinit thread_local worker* innermost_;

  scheduler& owner_;
  worker* const outer_;  // the next worker of the same thread, further out

  template <class T>
  using atomic = scheduler_atomics::atomic<T>;
  using time_point = scheduler_atomics::clock::time_point;

  /// A turn of handlers that take their time is shorter: it is to end within `limit`. One beyond
  /// poll_interval is to end within a sixteenth of that: events that become pending in it wait.
  void adapt_turn(time_point now, std::chrono::nanoseconds limit, unsigned longest) noexcept {
    if (turn_began_ != time_point{}) {
      const auto took = now - turn_began_;
      if (took > limit)
        turn_ = std::max(1u, std::min(turn_ / 4, poll_interval));
      else if (took < (turn_ < poll_interval ? limit / 4 : limit / 32))
        turn_ *= 2;
      else if (took > limit / 16)
        turn_ = std::min(turn_, poll_interval);
    }
    turn_ = std::min(turn_, longest);
    turn_began_ = now;
  }

  // The turn. Operations are counted once, by what is left of it; which is in one word with ran()
  // at its end, so that ran() never goes back for those who read it meanwhile.
  static constexpr unsigned budget_bits = 10;
  static constexpr std::uint64_t budget_mask = (1u << budget_bits) - 1;
  static_assert(longest_turn <= budget_mask);
  static constexpr std::uint64_t turn_of(std::uint64_t ran, unsigned length) noexcept {
    return (ran + length) << budget_bits | length;
  }
  bool may_take() const noexcept {
    return (turn_left_.load(std::memory_order_relaxed) & budget_mask) != 0;
  }
  void count_one() noexcept {
    turn_left_.store(turn_left_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  }
  void begin_turn(unsigned length) noexcept {
    turn_left_.store(turn_of(ran(), length), std::memory_order_relaxed);
  }
  /// Handlers to come may be others than those measured: what is left of a long turn is cut.
  void forget_turn() noexcept {
    turn_ = std::min(turn_, poll_interval);
    turn_began_ = {};
    if ((turn_left_.load(std::memory_order_relaxed) & budget_mask) > poll_interval)
      begin_turn(poll_interval);
  }
  std::uint64_t ran() const noexcept {
    const std::uint64_t turn = turn_left_.load(std::memory_order_relaxed);
    return (turn >> budget_bits) - (turn & budget_mask);
  }

  /// For the handler that runs: whether what continues it may go before the rest of the queue. Once
  /// for each handler, so that no more than one is ever before the rest; and after most_continued
  /// in a row the next one has to wait for its turn, so that the rest has one too.
  bool may_continue() noexcept {
    const std::uint64_t now = ran();
    if (now == continued_at_)
      return false;
    if (now != continued_at_ + 1)
      continued_in_row_ = 0;
    continued_at_ = now;
    if (continued_in_row_ == most_continued) {
      continued_in_row_ = 0;
      return false;
    }
    ++continued_in_row_;
    return true;
  }

  biased_lock lock_;
  segmented_queue local_;  // guarded by lock_

  // Own thread only; others read what is atomic.
  std::atomic<std::uint64_t> turn_left_{turn_of(0, poll_interval)};
  unsigned turn_ = poll_interval;
  std::int64_t work_ = 0;  // change of the work count not yet told to the scheduler
  std::atomic<operation::function> running_{nullptr};
  std::atomic<const void*> origin_{nullptr};
  time_point turn_began_{};         // unless it slept since
  time_point looked_around_{};      // when it last looked for what others have left
  std::uint64_t spun_at_ = 0;       // ran() when it last spun
  std::uint64_t continued_at_ = 0;  // ran() when a handler was last continued
  unsigned continued_in_row_ = 0;   // how many went before the rest since one had to wait
  statistic from_outside_;
  statistic strand_calls_;
  const std::thread::id thread_ = std::this_thread::get_id();
  const pthread_t native_thread_ = ::pthread_self();

  // Guarded by the scheduler's mutex.
  bool searches_ = false;    // woken to take a share of what others have queued
  bool settled_ = false;     // its credit and work_ are given back: it looks for events or sleeps
  bool notified_ = false;    // to leave its sleep
  bool is_stalled_ = false;  // when last looked at: nothing taken since the look before
  std::uint64_t seen_ran_ = 0;  // ran() when last looked at
  std::uint64_t id_ = 0;
  statistic events_, steal_attempts_, steals_, stolen_, polls_, parks_, wakeups_;
  worker* next_ = nullptr;         // in the list of all workers
  worker* next_parked_ = nullptr;  // in the list of parked ones
  scheduler_atomics::condition_variable wakeup_;
};

}  // namespace WEFT_NAMESPACE::detail
