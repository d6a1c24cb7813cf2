// SPDX-License-Identifier: BSL-1.0
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>

#include "base/found_once.hpp"
#include "io/backend/probe.hpp"
#include "io/backend/uring/ring.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

bool probe() noexcept {
  try {
    // The last operation that Linux 6.0 brought.
    return ring(4, 8, 0).supports(IORING_FEAT_EXT_ARG, IORING_OP_SEND_ZC);
  } catch (...) {
    return false;  // not in this kernel, switched off, denied by a security policy, or no memory
  }
}

/// Receives one of two bytes and looks at the answer.
bool tells_of_second_byte(int from) {
  ring receiver(1, 2, 0);
  char byte = 0;
  io_uring_prep_recv(receiver.next_entry(), from, &byte, 1, MSG_DONTWAIT);
  bool answered = false, tells = false;
  while (!answered && receiver.enter(receiver.publish(), 1, INT64_MAX) == 0)
    receiver.reap([&](std::uint64_t, int result, unsigned flags) {
      answered = true;
      tells = result == 1 && (flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
    });
  return tells;
}

bool probe_receive() noexcept {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return false;
  bool tells = false;
  try {
    tells = ::send(pair[0], "12", 2, MSG_NOSIGNAL) == 2 && tells_of_second_byte(pair[1]);
  } catch (...) {  // as above
  }
  ::close(pair[0]);
  ::close(pair[1]);
  return tells;
}

}  // namespace

bool uring_available() noexcept {
  constinit static found_once available;
  return available.get(probe);
}

bool receives_tell_of_more() noexcept {
  constinit static found_once tell;
  return tell.get([] { return uring_available() && probe_receive(); });
}

}  // namespace WEFT_NAMESPACE::detail
