// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// A text of the compiler's that contains the name of `T`; observe/ cuts the name out. A constant
/// of the program: it costs a few bytes for each type, and needs no RTTI.
template <class T>
constexpr const char* type_text() noexcept {
  return __PRETTY_FUNCTION__;
}

}  // namespace WEFT_NAMESPACE::detail
