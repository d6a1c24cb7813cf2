// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <weft/base/clock.hpp>
#include <weft/io/basic_waitable_timer.hpp>

namespace weft_test {

/// A clock that goes when it is told to.
struct manual_clock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<manual_clock>;
  static constexpr bool is_steady = false;

  static time_point now() noexcept { return time_point(duration(now_.load())); }
  static void set(duration since_epoch) { now_ = since_epoch.count(); }
  static void advance(duration d) { now_ += d.count(); }

 private:
  static inline std::atomic<std::int64_t> now_{0};
};

/// A context looks at the manual clock again whenever it has nothing else to do.
struct manual_wait_traits {
  static manual_clock::duration to_wait_duration(const manual_clock::duration&) {
    return manual_clock::duration::zero();
  }
  static manual_clock::duration to_wait_duration(const manual_clock::time_point&) {
    return manual_clock::duration::zero();
  }
};

using manual_timer = weft::basic_waitable_timer<manual_clock, manual_wait_traits>;

/// Replaces the library's source of time, for as long as it lives, by one that is set by hand:
/// the steady clock and the system clock stand still, and sleeping advances both.
class manual_time {
 public:
  manual_time() : previous_(weft::detail::set_time_source(source)) {
    steady_ = 1'000'000'000;
    system_ = 1'700'000'000'000'000'000;
  }
  manual_time(const manual_time&) = delete;
  manual_time& operator=(const manual_time&) = delete;
  ~manual_time() { weft::detail::set_time_source(previous_); }

  static void advance(std::chrono::nanoseconds d) {
    steady_ += d.count();
    system_ += d.count();
  }
  static void set_time_of_day_forward(std::chrono::nanoseconds d) { system_ += d.count(); }

 private:
  static inline std::atomic<std::int64_t> steady_{0};
  static inline std::atomic<std::int64_t> system_{0};

  static std::int64_t steady() noexcept { return steady_; }
  static std::int64_t system() noexcept { return system_; }
  static void sleep(std::int64_t nanoseconds) noexcept {
    advance(std::chrono::nanoseconds(nanoseconds));
  }
  static constexpr weft::detail::time_source source{&steady, &system, &sleep};

  const weft::detail::time_source& previous_;
};

}  // namespace weft_test
