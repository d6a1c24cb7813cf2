// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>

namespace demo {

/// Counts durations in buckets whose width grows with them: 32 to each power of two, so a quantile
/// is exact to about 3 %. Not thread-safe.
class latency_histogram {
 public:
  using duration = std::chrono::nanoseconds;

  void add(duration d) {
    ++buckets_[index(static_cast<std::uint64_t>(d.count() < 0 ? 0 : d.count()))];
    ++count_;
  }

  void add(const latency_histogram& other) {
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      buckets_[i] += other.buckets_[i];
    count_ += other.count_;
  }

  std::uint64_t count() const { return count_; }

  /// The duration that `fraction` (0 to 1) of all do not exceed; 0 if there is none.
  duration quantile(double fraction) const {
    std::uint64_t left = static_cast<std::uint64_t>(fraction * static_cast<double>(count_));
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      if (buckets_[i] > left)
        return duration(upper_end(i));
      left -= buckets_[i];
    }
    return {};
  }

 private:
  static constexpr unsigned bits = 5;
  static constexpr std::uint64_t per_power = 1u << bits;

  static std::size_t index(std::uint64_t ns) {
    if (ns < per_power)
      return ns;
    const unsigned shift = static_cast<unsigned>(std::bit_width(ns)) - bits - 1;
    return (shift + 1) * per_power + (ns >> shift) - per_power;
  }
  static std::int64_t upper_end(std::size_t i) {
    if (i < per_power)
      return static_cast<std::int64_t>(i);
    const std::size_t shift = i / per_power - 1;
    return static_cast<std::int64_t>(((i % per_power + per_power + 1) << shift) - 1);
  }

  std::array<std::uint64_t, 64 * per_power> buckets_{};
  std::uint64_t count_ = 0;
};

}  // namespace demo
