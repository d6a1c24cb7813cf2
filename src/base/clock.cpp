// SPDX-License-Identifier: BSL-1.0
#include <atomic>
#include <ctime>

#include <weft/base/clock.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

std::int64_t read_clock(clockid_t clock) noexcept {
  timespec time;
  ::clock_gettime(clock, &time);
  return time.tv_sec * nanoseconds_per_second + time.tv_nsec;
}

void sleep_on_monotonic_clock(std::int64_t nanoseconds) noexcept {
  if (nanoseconds <= 0)
    return;
  timespec left;
  left.tv_sec = nanoseconds / nanoseconds_per_second;
  left.tv_nsec = nanoseconds % nanoseconds_per_second;
  while (::clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0) {}
}

constexpr time_source operating_system{
    []() noexcept { return read_clock(CLOCK_MONOTONIC); },
    []() noexcept { return read_clock(CLOCK_REALTIME); },
    &sleep_on_monotonic_clock,
};

// Written by set_time_source (release), read by everyone (acquire): a reader that sees the new
// pointer sees the table it points to.
std::atomic<const time_source*> current_source{&operating_system};

}  // namespace

const time_source& system_time_source() noexcept {
  return operating_system;
}

const time_source& set_time_source(const time_source& source) noexcept {
  return *current_source.exchange(&source, std::memory_order_acq_rel);
}

std::int64_t steady_now() noexcept {
  return current_source.load(std::memory_order_acquire)->steady_now();
}

std::int64_t system_now() noexcept {
  return current_source.load(std::memory_order_acquire)->system_now();
}

void sleep_for(std::int64_t nanoseconds) noexcept {
  current_source.load(std::memory_order_acquire)->sleep(nanoseconds);
}

}  // namespace WEFT_NAMESPACE::detail
