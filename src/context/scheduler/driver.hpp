// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/base/operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// What tells a scheduler of events from outside: I/O and timers. The scheduler lets at most one
/// thread at a time into `poll`; the others may be called from any thread at any time.
class driver {
 public:
  static constexpr std::int64_t forever = INT64_MAX;

  /// Moves what has finished to `ready`, in order; each was counted as work when it was started.
  /// Sleeps until there is something, until `wake` or until `timeout` nanoseconds have passed;
  /// with 0 it does not sleep. May return early with nothing. Returns whether there may be more
  /// already, which would have taken too long.
  virtual bool poll(std::int64_t timeout, operation_queue& ready) noexcept = 0;

  /// Ends the current or else the next sleep in `poll`.
  virtual void wake() noexcept = 0;

  /// Nobody will poll until a loop that is not the scheduler's is told to: from now on `wake`, and
  /// what a sleep in `poll` would end with, tell it. `disarm` ends that, but for `wake`.
  virtual void arm() noexcept {}
  virtual void disarm() noexcept {}

  /// Whether a poll that does not sleep would find nothing because nothing is pending.
  virtual bool quiet() const noexcept = 0;

 protected:
  ~driver() = default;
};

}  // namespace WEFT_NAMESPACE::detail
