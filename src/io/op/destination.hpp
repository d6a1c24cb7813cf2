// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <weft/base/error_code.hpp>
#include <weft/io/op/wait.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether a send to the address, or null, that would block cannot be waited for by readiness: a
/// UNIX-domain socket without a peer is writable however full the queue of a destination is.
inline bool full_elsewhere(int fd, const void* address) noexcept {
  error_code ignored;
  return address && static_cast<const sockaddr*>(address)->sa_family == AF_UNIX &&
         poll_descriptor(fd, POLLOUT, 0, ignored);
}

}  // namespace WEFT_NAMESPACE::detail
