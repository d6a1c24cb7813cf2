// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <weft/base/log_buckets.hpp>

namespace WEFT_NAMESPACE::observe {

/// How often which times were measured, in buckets of growing width: what it tells of a time is at
/// most a quarter more than the time was.
///
/// A value: it may be copied, and the difference of two tells what came between them. Not
/// thread-safe. 1.4 kB.
class WEFT_API histogram {
 public:
  using duration = std::chrono::nanoseconds;

  /// Adds one measurement. O(1).
  void add(duration time) noexcept;

  /// How many measurements there are. O(buckets), as all below.
  std::uint64_t count() const noexcept;
  /// The exact mean of them; 0 if there are none.
  duration mean() const noexcept;
  /// The exact longest one; of a difference, the longest of what it was taken from.
  duration max() const noexcept { return max_; }
  /// The time that the given part of the measurements, from 0 to 1, does not exceed; 0 if there are
  /// none.
  duration quantile(double part) const noexcept;
  duration p50() const noexcept { return quantile(0.5); }
  duration p99() const noexcept { return quantile(0.99); }

  /// For those who draw: the buckets, from the shortest times on, and the longest time in each.
  static constexpr std::size_t bucket_count = detail::log_buckets::count;
  std::uint64_t bucket(std::size_t i) const noexcept { return buckets_[i]; }
  static constexpr duration bucket_end(std::size_t i) noexcept {
    return duration(detail::log_buckets::upper(i));
  }

  /// Without what `earlier` holds, which must have been measured by the same.
  histogram& operator-=(const histogram& earlier) noexcept;
  friend histogram operator-(histogram later, const histogram& earlier) noexcept {
    return later -= earlier;
  }

 private:
  friend struct metrics;

  std::array<std::uint64_t, bucket_count> buckets_{};
  duration sum_{0};
  duration max_{0};
};

}  // namespace WEFT_NAMESPACE::observe
