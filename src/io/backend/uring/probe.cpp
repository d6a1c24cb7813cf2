// SPDX-License-Identifier: BSL-1.0
#include <sys/socket.h>

#include <cstdint>

#include "base/found_once.hpp"
#include "io/backend/native_descriptor.hpp"
#include "io/backend/probe.hpp"
#include "io/backend/uring/ring.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

/// Throws what making a ring does: there are none in this kernel, they are switched off, or denied
/// by a security policy.
bool probe() {
  // The last operation that Linux 6.0 brought.
  return ring(4, 8, 0).supports(IORING_FEAT_EXT_ARG, IORING_OP_SEND_ZC);
}

/// Receives one of two bytes and looks at the answer.
bool tells_of_second_byte() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return false;
  const native_descriptor from(pair[0]), to(pair[1]);
  ring receiver(1, 2, 0);
  if (::send(from.get(), "12", 2, MSG_NOSIGNAL) != 2)
    return false;
  char byte = 0;
  io_uring_prep_recv(receiver.next_entry(), to.get(), &byte, 1, MSG_DONTWAIT);
  bool answered = false, tells = false;
  while (!answered && receiver.enter(receiver.publish(), 1, INT64_MAX) == 0)
    receiver.reap([&](std::uint64_t, int result, unsigned flags) {
      answered = true;
      tells = result == 1 && (flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
    });
  return tells;
}

}  // namespace

bool uring_available() noexcept {
  constinit static found_once available;
  return available.get(probe);
}

bool receives_tell_of_more() noexcept {
  constinit static found_once tell;
  return tell.get([] { return uring_available() && tells_of_second_byte(); });
}

}  // namespace WEFT_NAMESPACE::detail
