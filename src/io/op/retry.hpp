// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>

namespace WEFT_NAMESPACE::detail {

/// Makes a system call until no signal interrupts it.
template <class Call>
auto retry_interrupted(Call call) noexcept {
  auto result = call();
  while (result < 0 && errno == EINTR)
    result = call();
  return result;
}

constexpr bool would_block(int errno_value) noexcept {
  return errno_value == EAGAIN || errno_value == EWOULDBLOCK;
}

}  // namespace WEFT_NAMESPACE::detail
