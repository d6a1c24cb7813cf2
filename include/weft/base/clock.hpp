// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/base/chrono.hpp>
#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Where the library learns the time, and how it lets time pass: nothing above base/ reads a
/// system clock in another way. A simulation or a test installs its own.
///
/// Times are nanoseconds since the epoch of the clock that is named. All functions may be called
/// from several threads at once, and with the timers' lock held.
struct time_source {
  std::int64_t (*steady_now)() noexcept;
  std::int64_t (*system_now)() noexcept;
  /// Blocks the calling thread for about `nanoseconds`; returns at once if that is not positive.
  void (*sleep)(std::int64_t nanoseconds) noexcept;
};

/// The operating system's clocks: CLOCK_MONOTONIC and CLOCK_REALTIME.
WEFT_API const time_source& system_time_source() noexcept;

/// Replaces the source of time for the whole process, and returns the one that was in force.
/// `source` must stay valid until it is replaced. Call it while no context runs.
WEFT_API const time_source& set_time_source(const time_source& source) noexcept;

WEFT_API std::int64_t steady_now() noexcept;
WEFT_API std::int64_t system_now() noexcept;
WEFT_API void sleep_for(std::int64_t nanoseconds) noexcept;

/// `Clock::now()`, by way of the time source for the standard clocks.
template <class Clock>
struct clock_reader {
  static typename Clock::time_point now() noexcept { return Clock::now(); }
};

template <>
struct clock_reader<std::chrono::steady_clock> {
  static std::chrono::steady_clock::time_point now() noexcept {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(steady_now()));
  }
};

template <>
struct clock_reader<std::chrono::system_clock> {
  static std::chrono::system_clock::time_point now() noexcept {
    using duration = std::chrono::system_clock::duration;
    return std::chrono::system_clock::time_point(
        std::chrono::duration_cast<duration>(std::chrono::nanoseconds(system_now())));
  }
};

template <class Clock>
typename Clock::time_point clock_now() noexcept {
  return clock_reader<Clock>::now();
}

}  // namespace WEFT_NAMESPACE::detail
