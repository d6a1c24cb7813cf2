// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/accept.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <liburing.h>

#include <algorithm>

#include "io/op/aborted_connection.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// Takes note of the answer of a system call: a descriptor, or a negated errno value. False: the
/// next connection is to be tried.
bool answered(accept_operation& op, int result) noexcept {
  if (result >= 0) {
    op.accepted = result;
    op.address_size = std::min(op.address_size, op.address_capacity);
    op.ec = error_code();
    return true;
  }
  if (is_aborted_connection(-result) && !op.report_aborted)
    return false;
  op.fail(is_aborted_connection(-result) ? ECONNABORTED : -result);
  return true;
}

sockaddr* address_of(accept_operation& op) noexcept {
  op.address_size = op.address_capacity;
  return op.address;
}

io_status perform_accept(io_operation& base) noexcept {
  auto& op = static_cast<accept_operation&>(base);
  for (;;) {
    const int fd = retry_interrupted([&] {
      sockaddr* address = address_of(op);
      return ::accept4(op.fd, address, address ? &op.address_size : nullptr, SOCK_CLOEXEC);
    });
    if (fd < 0 && would_block(errno))
      return io_status::again;
    if (answered(op, fd < 0 ? -errno : fd))
      return io_status::done;
  }
}

void prepare_accept(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<accept_operation&>(base);
  sockaddr* address = address_of(op);
  io_uring_prep_accept(&sqe, op.fd, address, address ? &op.address_size : nullptr, SOCK_CLOEXEC);
}

io_status finish_accept(io_operation& base, io_answer answer) noexcept {
  auto& op = static_cast<accept_operation&>(base);
  if (answer.result == -EINTR || answer.result == -EAGAIN || !answered(op, answer.result))
    return io_status::again;
  return io_status::done;
}

}  // namespace

accept_operation::~accept_operation() {
  if (accepted >= 0)
    ::close(accepted);
}

const io_kind accept_operation::accept_kind{.perform = &perform_accept,
                                            .prepare = &prepare_accept,
                                            .finish = &finish_accept,
                                            .makes_descriptor = true};

}  // namespace WEFT_NAMESPACE::detail
