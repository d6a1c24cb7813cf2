// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/clock.hpp>

namespace WEFT_NAMESPACE {

/// How long a timer over `Clock` waits before it looks at the clock again. The primary template
/// waits for exactly what is left; specialise it, or give basic_waitable_timer traits of your own,
/// for a clock that does not pass at the pace of real time, or that may be set.
///
/// A wait is over when `Clock::now()` has reached its expiry, whatever the traits say: they only
/// say when to look. A result of zero or less means to look again at once, without sleeping.
/// The functions are called with a lock held: they must neither throw nor touch a timer.
template <class Clock>
struct wait_traits {
  /// The time to wait for what is `d` away. Returns `d`.
  static typename Clock::duration to_wait_duration(const typename Clock::duration& d) { return d; }

  /// The time to wait for what is due at `t`: `t - Clock::now()`, or the longest or shortest
  /// duration where that would overflow.
  static typename Clock::duration to_wait_duration(const typename Clock::time_point& t) {
    using duration = typename Clock::duration;
    const auto now = detail::clock_now<Clock>();
    const auto zero = typename Clock::time_point();
    if (now < zero && t - zero > (duration::max)() + (now - zero))
      return (duration::max)();
    if (now > zero && t - zero < (duration::min)() + (now - zero))
      return (duration::min)();
    return t - now;
  }
};

}  // namespace WEFT_NAMESPACE
