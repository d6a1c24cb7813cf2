// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// What a cancelled operation may leave behind: a bit mask. An operation that supports a weaker
/// promise answers requests for it and for all stronger ones, so request the strongest one that
/// you need, or several.
enum class cancellation_type : unsigned {
  none = 0,
  /// Afterwards the object is only fit to be closed or destroyed.
  terminal = 1,
  /// Part of the effect may have happened; the object is in a known state, and may be used further.
  partial = 2,
  /// No effect can be seen; the object is as it was before the operation.
  total = 4,
  all = 0xFFFFFFFF
};

using cancellation_type_t = cancellation_type;

constexpr bool operator!(cancellation_type x) noexcept {
  return x == cancellation_type::none;
}
constexpr cancellation_type operator&(cancellation_type x, cancellation_type y) noexcept {
  return static_cast<cancellation_type>(static_cast<unsigned>(x) & static_cast<unsigned>(y));
}
constexpr cancellation_type operator|(cancellation_type x, cancellation_type y) noexcept {
  return static_cast<cancellation_type>(static_cast<unsigned>(x) | static_cast<unsigned>(y));
}
constexpr cancellation_type operator^(cancellation_type x, cancellation_type y) noexcept {
  return static_cast<cancellation_type>(static_cast<unsigned>(x) ^ static_cast<unsigned>(y));
}
constexpr cancellation_type operator~(cancellation_type x) noexcept {
  return static_cast<cancellation_type>(~static_cast<unsigned>(x));
}
constexpr cancellation_type& operator&=(cancellation_type& x, cancellation_type y) noexcept {
  return x = x & y;
}
constexpr cancellation_type& operator|=(cancellation_type& x, cancellation_type y) noexcept {
  return x = x | y;
}
constexpr cancellation_type& operator^=(cancellation_type& x, cancellation_type y) noexcept {
  return x = x ^ y;
}

/// A filter of cancellation requests that lets the types in `Mask` pass.
template <cancellation_type Mask>
struct cancellation_filter {
  constexpr cancellation_type operator()(cancellation_type type) const noexcept {
    return type & Mask;
  }
};

using disable_cancellation = cancellation_filter<cancellation_type::none>;
using enable_terminal_cancellation = cancellation_filter<cancellation_type::terminal>;
using enable_partial_cancellation =
    cancellation_filter<cancellation_type::terminal | cancellation_type::partial>;
using enable_total_cancellation =
    cancellation_filter<cancellation_type::terminal | cancellation_type::partial |
                        cancellation_type::total>;

}  // namespace WEFT_NAMESPACE
