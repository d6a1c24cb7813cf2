// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>
#include <type_traits>

#include <weft/base/clock.hpp>

namespace WEFT_NAMESPACE::detail {

inline constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

/// Which way a duration is rounded that is no whole number of nanoseconds.
enum class rounding : bool { down, up };

/// A duration in nanoseconds; the nearest representable number if it is out of range.
template <rounding Rounding, class Rep, class Period>
constexpr std::int64_t saturated_nanoseconds(const std::chrono::duration<Rep, Period>& d) noexcept {
  constexpr std::int64_t least = (std::numeric_limits<std::int64_t>::min)();
  using scale = std::ratio_divide<Period, std::nano>;
  if constexpr (std::is_integral_v<Rep>) {
    __extension__ using wide = __int128;
    const wide scaled = static_cast<wide>(d.count()) * scale::num;
    wide result = scaled / scale::den;
    if (const wide rest = scaled % scale::den; rest != 0) {
      if (Rounding == rounding::up && rest > 0)
        ++result;
      else if (Rounding == rounding::down && rest < 0)
        --result;
    }
    return result > never ? never : result < least ? least : static_cast<std::int64_t>(result);
  } else {
    const long double result =
        std::chrono::duration_cast<std::chrono::duration<long double, std::nano>>(d).count();
    if (result >= static_cast<long double>(never))
      return never;
    if (result <= static_cast<long double>(least))
      return least;
    const auto whole = static_cast<std::int64_t>(result);
    const auto rest = result - static_cast<long double>(whole);
    if (Rounding == rounding::up)
      return rest > 0 ? whole + 1 : whole;
    return rest < 0 ? whole - 1 : whole;
  }
}

/// A number of nanoseconds as a duration; the nearest representable one if it is out of range.
template <class Duration>
constexpr Duration saturated_duration(std::int64_t nanoseconds) noexcept {
  if (saturated_nanoseconds<rounding::up>((Duration::max)()) <= nanoseconds)
    return (Duration::max)();
  if (saturated_nanoseconds<rounding::down>((Duration::min)()) >= nanoseconds)
    return (Duration::min)();
  return std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(nanoseconds));
}

/// `t + d`, or the last or first time point where that would overflow.
template <class TimePoint>
constexpr TimePoint saturated_add(const TimePoint& t, const typename TimePoint::duration& d) {
  using duration = typename TimePoint::duration;
  const TimePoint zero{};
  if (t > zero && d > (duration::max)() - (t - zero))
    return (TimePoint::max)();
  if (t < zero && d < (duration::min)() - (t - zero))
    return (TimePoint::min)();
  return t + d;
}

/// A duration in the unit of `Clock`, rounded up; the longest or shortest one if it is out of
/// range.
template <class Clock, class Rep, class Period>
constexpr typename Clock::duration to_duration(const std::chrono::duration<Rep, Period>& d) {
  using duration = typename Clock::duration;
  if constexpr (std::is_convertible_v<std::chrono::duration<Rep, Period>, duration> &&
                std::is_integral_v<Rep>) {
    using limit = std::chrono::duration<long double>;
    if (limit(d) >= limit((duration::max)()))
      return (duration::max)();
    if (limit(d) <= limit((duration::min)()))
      return (duration::min)();
    return d;
  } else {
    return saturated_duration<duration>(saturated_nanoseconds<rounding::up>(d));
  }
}

template <class Clock, class Duration>
constexpr typename Clock::time_point to_time_point(
    const std::chrono::time_point<Clock, Duration>& t) {
  return typename Clock::time_point(to_duration<Clock>(t.time_since_epoch()));
}

/// A clock as the timers see it, in nanoseconds since its epoch. One constant per clock and traits,
/// known by its address. The functions are called with the timers' lock held.
struct timer_clock {
  /// The time now, rounded down.
  std::int64_t (*now)() noexcept;
  /// How long to wait for `expiry` before looking at `now` again; rounded up.
  std::int64_t (*to_wait)(std::int64_t expiry) noexcept;
};

/// A clock that can be set may reach an expiry without notice: it is looked at once a minute.
inline constexpr std::int64_t longest_unsteady_wait = 60'000'000'000;

template <class Clock, class WaitTraits>
struct timer_clock_of {
  using time_point = typename Clock::time_point;

  /// The expiry of a wait until `t`: it is over no earlier than `t`.
  static std::int64_t expiry(const time_point& t) noexcept {
    return saturated_nanoseconds<rounding::up>(t.time_since_epoch());
  }

  static std::int64_t now() noexcept {
    return saturated_nanoseconds<rounding::down>(clock_now<Clock>().time_since_epoch());
  }

  static std::int64_t to_wait(std::int64_t expiry) noexcept {
    const time_point t(saturated_duration<typename time_point::duration>(expiry));
    const std::int64_t wait = saturated_nanoseconds<rounding::up>(WaitTraits::to_wait_duration(t));
    return Clock::is_steady || wait < longest_unsteady_wait ? wait : longest_unsteady_wait;
  }

  static constexpr timer_clock value{&now, &to_wait};
};

}  // namespace WEFT_NAMESPACE::detail
