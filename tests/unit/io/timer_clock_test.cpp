// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

#include <weft/io/timer_clock.hpp>
#include <weft/io/wait_traits.hpp>

#include "support/manual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using weft::detail::never;
using weft::detail::rounding;
using weft::detail::saturated_add;
using weft::detail::saturated_duration;
using weft::detail::saturated_nanoseconds;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

template <class Rep, class Period>
std::int64_t up(std::chrono::duration<Rep, Period> d) {
  return saturated_nanoseconds<rounding::up>(d);
}
template <class Rep, class Period>
std::int64_t down(std::chrono::duration<Rep, Period> d) {
  return saturated_nanoseconds<rounding::down>(d);
}

TEST(timer_clock, whole_nanoseconds_are_kept) {
  EXPECT_EQ(up(5s), 5'000'000'000);
  EXPECT_EQ(down(-3us), -3000);
  EXPECT_EQ(up(std::chrono::nanoseconds::max()), never);
}

TEST(timer_clock, durations_out_of_range_saturate) {
  EXPECT_EQ(up(std::chrono::hours::max()), never);
  EXPECT_EQ(down(std::chrono::hours::min()), least);
  EXPECT_EQ(up(std::chrono::duration<std::uint64_t>(~std::uint64_t{0})), never);
  EXPECT_EQ(up(std::chrono::duration<double>(1e30)), never);
  EXPECT_EQ(down(std::chrono::duration<double>(-1e30)), least);
}

TEST(timer_clock, parts_of_a_nanosecond_are_rounded_as_asked) {
  using picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  EXPECT_EQ(up(picoseconds(1)), 1);
  EXPECT_EQ(down(picoseconds(1)), 0);
  EXPECT_EQ(up(picoseconds(-1)), 0);
  EXPECT_EQ(down(picoseconds(-1)), -1);
  EXPECT_EQ(up(std::chrono::duration<double, std::nano>(1.5)), 2);
  EXPECT_EQ(down(std::chrono::duration<double, std::nano>(1.5)), 1);
  EXPECT_EQ(down(std::chrono::duration<double, std::nano>(-1.5)), -2);
}

TEST(timer_clock, nanoseconds_become_a_coarser_or_smaller_duration_without_overflow) {
  EXPECT_EQ(saturated_duration<std::chrono::seconds>(5'000'000'000), 5s);
  using small = std::chrono::duration<std::int16_t, std::milli>;
  EXPECT_EQ(saturated_duration<small>(never), small::max());
  EXPECT_EQ(saturated_duration<small>(least), small::min());
  using picoseconds = std::chrono::duration<std::int64_t, std::pico>;
  EXPECT_EQ(saturated_duration<picoseconds>(never), picoseconds::max());
}

TEST(timer_clock, adding_to_a_time_point_saturates) {
  using time_point = weft_test::manual_clock::time_point;
  EXPECT_EQ(saturated_add(time_point(5ns), 3ns), time_point(8ns));
  EXPECT_EQ(saturated_add(time_point(5ns), 0ns + std::chrono::nanoseconds::max()),
            time_point::max());
  EXPECT_EQ(saturated_add(time_point(-5ns), std::chrono::nanoseconds::min()), time_point::min());
}

TEST(wait_traits, the_time_to_wait_does_not_overflow) {
  using clock = weft_test::manual_clock;
  using traits = weft::wait_traits<clock>;
  clock::set(5s);
  EXPECT_EQ(traits::to_wait_duration(3s), 3s);
  EXPECT_EQ(traits::to_wait_duration(clock::time_point(7s)), 2s);
  EXPECT_EQ(traits::to_wait_duration(clock::time_point(4s)), -1s);
  EXPECT_EQ(traits::to_wait_duration(clock::time_point::min()), clock::duration::min());
  clock::set(-5s);
  EXPECT_EQ(traits::to_wait_duration(clock::time_point::max()), clock::duration::max());
  clock::set(0s);
}

TEST(timer_clock, a_steady_clock_is_waited_for_exactly_and_one_that_can_be_set_for_a_minute) {
  const weft_test::manual_time time;
  using steady = std::chrono::steady_clock;
  using system = std::chrono::system_clock;
  using steady_access = weft::detail::timer_clock_of<steady, weft::wait_traits<steady>>;
  using system_access = weft::detail::timer_clock_of<system, weft::wait_traits<system>>;
  const std::int64_t hour = up(1h);
  EXPECT_EQ(steady_access::to_wait(steady_access::now() + hour), hour);
  EXPECT_EQ(system_access::to_wait(system_access::now() + hour), up(1min));
  EXPECT_EQ(system_access::to_wait(system_access::now() + 5), 5);
}

}  // namespace
