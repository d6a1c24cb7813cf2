// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>

#include <weft/base/operation.hpp>

namespace WEFT_NAMESPACE::detail {

class scheduler;

/// One thread's stay in `run()` (or one of its siblings). It lives on that thread's stack; calls
/// nested in handlers make a chain of workers.
class worker {
 public:
  /// Operations a worker runs before it looks for events without sleeping.
  static constexpr int poll_interval = 64;

  explicit worker(scheduler& owner) noexcept;
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  /// The calling thread's innermost worker of `owner`, or null.
  static worker* current(const scheduler& owner) noexcept;

 private:
  friend class scheduler;

  scheduler& owner_;
  worker* const outer_;  // the next worker of the same thread, further out

  // Own thread only.
  std::int64_t work_ = 0;  // change of the work count not yet told to the scheduler
  int budget_ = poll_interval;

  // The queue of a worker that is alone; see scheduler::biased_.
  std::atomic<bool> busy_{false};
  operation_queue local_;

  // Guarded by the scheduler's mutex.
  worker* next_ = nullptr;         // in the list of all workers
  worker* next_parked_ = nullptr;  // in the list of parked ones
  bool notified_ = false;
  bool settled_ = false;  // its credit and work_ are given back: it looks for events or sleeps
  std::condition_variable wakeup_;
};

}  // namespace WEFT_NAMESPACE::detail
