// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// The buckets of a histogram of nanoseconds: each power of two is cut into four, so that a bucket
/// is at most a quarter as wide as what lies in it is long. Below 8 each value has one of its own;
/// the last takes all from 2^42 (73 minutes) times 7/4 on.
struct log_buckets {
  static constexpr std::size_t count = 168;

  static constexpr std::size_t index(std::uint64_t value) noexcept {
    if (value < 4)
      return static_cast<std::size_t>(value);
    const unsigned exponent = static_cast<unsigned>(std::bit_width(value)) - 1;
    const std::uint64_t quarter = (value >> (exponent - 2)) & 3;
    const auto found = static_cast<std::size_t>((exponent - 1) * 4 + quarter);
    return found < count ? found : count - 1;
  }

  /// The greatest value that falls into a bucket, the last one seen as if it ended like the others.
  static constexpr std::uint64_t upper(std::size_t index) noexcept {
    if (index < 4)
      return index;
    const unsigned shift = static_cast<unsigned>(index / 4) - 1;
    return ((4 + index % 4 + 1) << shift) - 1;
  }
};

}  // namespace WEFT_NAMESPACE::detail
