// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>

namespace WEFT_NAMESPACE::detail {

/// Errors of a connection that was lost while it waited to be accepted (accept(2)).
constexpr bool is_aborted_connection(int errno_value) noexcept {
  return errno_value == ECONNABORTED || errno_value == EPROTO;
}

}  // namespace WEFT_NAMESPACE::detail
