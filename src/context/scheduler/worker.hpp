// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include <weft/base/operation.hpp>

#include "context/scheduler/atomics.hpp"
#include "context/scheduler/biased_lock.hpp"

namespace WEFT_NAMESPACE::detail {

class scheduler;

/// One thread's stay in `run()` (or one of its siblings). It lives on that thread's stack; calls
/// nested in handlers make a chain of workers.
class worker {
 public:
  static constexpr int poll_interval = scheduler_atomics::poll_interval;
  static constexpr unsigned local_limit = scheduler_atomics::local_limit;
  static constexpr unsigned batch = scheduler_atomics::batch;

  worker(scheduler& owner, bool biased) noexcept;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  /// The calling thread's innermost worker of `owner`, or null.
  static worker* current(const scheduler& owner) noexcept;

 private:
  friend class scheduler;
  friend class scheduler_model;

  scheduler& owner_;
  worker* const outer_;  // the next worker of the same thread, further out

  template <class T>
  using atomic = scheduler_atomics::atomic<T>;
  using time_point = scheduler_atomics::clock::time_point;

  /// A turn of handlers that take their time is shorter: it is to end within `limit`.
  void adapt_turn(time_point now, std::chrono::nanoseconds limit) noexcept {
    if (turn_began_ != time_point{}) {
      if (now - turn_began_ > limit)
        turn_ = std::max(1, turn_ / 4);
      else if (now - turn_began_ < limit / 4)
        turn_ = std::min(poll_interval, 2 * turn_);
    }
    turn_began_ = now;
  }

  // Own thread only.
  std::int64_t work_ = 0;  // change of the work count not yet told to the scheduler
  int turn_ = poll_interval;
  int budget_ = poll_interval;  // what is left of the turn
  time_point turn_began_{};     // unless it slept since

  // The local queue, guarded by lock_. size_ is exact while is_counted_; others read it as a hint.
  biased_lock lock_;
  operation_queue local_;
  atomic<unsigned> size_{0};
  atomic<unsigned> taken_{0};  // operations taken to run; written by the own thread

  // Guarded by the scheduler's mutex.
  bool is_counted_ = false;  // its own thread reads it in lock_, which others revoke to write it
  bool searches_ = false;    // woken to take a share of what others have queued
  bool settled_ = false;     // its credit and work_ are given back: it looks for events or sleeps
  bool notified_ = false;    // to leave its sleep
  bool is_stalled_ = false;  // when last looked at: nothing taken since the look before
  unsigned seen_taken_ = 0;  // taken_ when last looked at
  worker* next_ = nullptr;   // in the list of all workers
  worker* next_parked_ = nullptr;  // in the list of parked ones
  scheduler_atomics::condition_variable wakeup_;
};

}  // namespace WEFT_NAMESPACE::detail
