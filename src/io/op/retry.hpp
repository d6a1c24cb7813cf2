// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/socket.h>

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

/// The flags of a transfer that io_uring is to make when it can, whatever they say: without waiting
/// it would answer with EAGAIN for ever.
constexpr int waiting_flags(int flags) noexcept {
  return flags & ~MSG_DONTWAIT;
}

}  // namespace WEFT_NAMESPACE::detail
