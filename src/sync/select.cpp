// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/select.hpp>

#include <cstdint>

namespace WEFT_NAMESPACE::detail {

std::size_t select_start(std::size_t cases) noexcept {
  // George Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8(14), 2003.
  static constinit thread_local std::uint32_t state = 2463534242;
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state % cases;
}

}  // namespace WEFT_NAMESPACE::detail
