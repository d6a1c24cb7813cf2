// SPDX-License-Identifier: BSL-1.0
#include <liburing.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/found_once.hpp"
#include "io/backend/probe.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

bool probe() noexcept {
  io_uring ring;
  io_uring_params params{};
  if (io_uring_queue_init_params(4, &ring, &params) < 0)
    return false;  // not in this kernel, switched off, or denied by a security policy
  bool enough = false;
  if (params.features & IORING_FEAT_EXT_ARG)
    if (io_uring_probe* known = io_uring_get_probe_ring(&ring)) {
      // The last operation that Linux 6.0 brought.
      enough = io_uring_opcode_supported(known, IORING_OP_SEND_ZC) != 0;
      io_uring_free_probe(known);
    }
  io_uring_queue_exit(&ring);
  return enough;
}

/// Receives one of two bytes and looks at the answer.
bool tells_of_second_byte(io_uring& ring, int from) noexcept {
  char byte = 0;
  io_uring_sqe* const sqe = io_uring_get_sqe(&ring);
  io_uring_prep_recv(sqe, from, &byte, 1, MSG_DONTWAIT);
  io_uring_cqe* cqe = nullptr;
  return io_uring_submit(&ring) == 1 && io_uring_wait_cqe(&ring, &cqe) == 0 && cqe->res == 1 &&
         (cqe->flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
}

bool probe_receive() noexcept {
  io_uring ring;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
    return false;
  bool tells = false;
  if (::send(pair[0], "12", 2, MSG_NOSIGNAL) == 2 && io_uring_queue_init(1, &ring, 0) == 0) {
    tells = tells_of_second_byte(ring, pair[1]);
    io_uring_queue_exit(&ring);
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
