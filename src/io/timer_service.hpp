// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>

#include <weft/io/timer_core.hpp>

namespace WEFT_NAMESPACE::detail {

/// The timers of one context, as its I/O driver sees them. One thread at a time is the poller: it
/// asks how long it may sleep, sleeps, and collects what is due. Arming a wait calls `wake` only if
/// the poller sleeps, and past the time when that wait is due.
///
/// What it shares with timers and waits is a timer_core, which lives until the last of them is
/// gone: a timer may outlive its context, and a wait that another context's executor holds may be
/// claimed after it.
class timer_service {
 public:
  /// `wake(wake_arg)` ends the poller's sleep, or prevents the next one. It is called from any
  /// thread, without a lock.
  timer_service(scheduler& owner, void (*wake)(void*), void* wake_arg);
  timer_service(const timer_service&) = delete;
  timer_service& operator=(const timer_service&) = delete;
  ~timer_service();

  /// The nanoseconds until the earliest wait may be due: 0 if that is now, the maximum of the type
  /// if there is no wait. Notes that the poller is about to sleep for that long; it need not.
  /// O(number of clocks in use), with one or two clock readings for each that has waits.
  std::int64_t prepare_wait() noexcept;

  /// Notes that the poller is awake. O(1), no lock.
  void finish_wait() noexcept;

  /// Moves waits that are due to the end of `ready`, in the order of their expiry; no more than a
  /// batch. They have been counted as work since they were started. Returns whether more may be due
  /// by now. O(1) amortised for each; O(log n) amortised, n their number,
  /// for those whose expiry had passed when they were started.
  bool collect(operation_queue& ready) noexcept;

  /// How many waits are pending, and whether none is. Hints where other threads arm waits. O(1), no
  /// lock.
  std::size_t pending() const noexcept;
  bool empty() const noexcept;

  /// Moves all pending waits to `out`, for it to destroy. Waits that are started later are
  /// destroyed at once.
  void shutdown(operation_queue& out) noexcept;

  timer_core& core() const noexcept { return *core_; }

 private:
  timer_core* core_;
};

}  // namespace WEFT_NAMESPACE::detail
