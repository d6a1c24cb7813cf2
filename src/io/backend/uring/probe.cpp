// SPDX-License-Identifier: BSL-1.0
#include <liburing.h>

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

}  // namespace

bool uring_available() noexcept {
  static const bool available = probe();
  return available;
}

}  // namespace WEFT_NAMESPACE::detail
