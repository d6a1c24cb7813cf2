// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// The sizes of blocks: steps of 16 bytes up to 256, of 32 up to 512, of 64 up to 1024. A block is
/// aligned to 16 bytes, which `operator new` guarantees too.
namespace size_class {

inline constexpr std::size_t granule = 16;
inline constexpr unsigned count = 32;
/// The largest block that has a class.
inline constexpr std::size_t max_size = 1024;
static_assert(granule >= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

inline constexpr auto sizes = [] {
  std::array<std::uint16_t, count> table{};
  std::size_t size = 0;
  for (auto& entry : table) {
    size += size < 256 ? 16 : size < 512 ? 32 : 64;
    entry = static_cast<std::uint16_t>(size);
  }
  return table;
}();
static_assert(sizes.back() == max_size);

/// The class of a block of `size` bytes, at most `max_recycled_size`.
inline constexpr auto indices = [] {
  std::array<std::uint8_t, max_size / granule + 1> table{};
  std::uint8_t index = 0;
  for (std::size_t i = 0; i != table.size(); ++i) {
    while (sizes[index] < i * granule)
      ++index;
    table[i] = index;
  }
  return table;
}();
constexpr unsigned of(std::size_t size) noexcept {
  return indices[(size + granule - 1) / granule];
}

/// How many blocks change hands between a thread and the central store: 64, or 16 KiB.
constexpr std::uint32_t batch(unsigned index) noexcept {
  const auto fit = static_cast<std::uint32_t>(16 * 1024 / sizes[index]);
  return fit < 64 ? fit : 64;
}

}  // namespace size_class
}  // namespace WEFT_NAMESPACE::detail
