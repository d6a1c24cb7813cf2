// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/connect.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <liburing.h>

#include <weft/io/op/wait.hpp>

#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// Whether connect(2) goes on by itself after this error. A signal does not end it either.
bool goes_on(int errno_value) noexcept {
  return errno_value == EINPROGRESS || errno_value == EINTR;
}

/// How the connection that was under way ended.
io_status ended(connect_operation& op) noexcept {
  int pending = 0;
  socklen_t size = sizeof(pending);
  op.ec = error_code();
  if (::getsockopt(op.fd, SOL_SOCKET, SO_ERROR, &pending, &size) != 0)
    pending = errno;
  if (pending != 0)
    op.fail(pending);
  return io_status::done;
}

/// What an attempt to connect came to: 0, or an errno value.
io_status attempted(connect_operation& op, int errno_value) noexcept {
  // The queue of a UNIX-domain acceptor is full. The socket is told neither by poll(2), which calls
  // it writable, nor by io_uring when there is room. A signal leaves nothing under way here.
  if (op.address->sa_family == AF_UNIX && (would_block(errno_value) || errno_value == EINTR))
    return io_status::later;
  if (goes_on(errno_value)) {
    op.under_way = true;
    return io_status::again;
  }
  op.ec = error_code();
  if (errno_value != 0)
    op.fail(errno_value);
  return io_status::done;
}

io_status perform_connect(io_operation& base) noexcept {
  auto& op = static_cast<connect_operation&>(base);
  if (!op.under_way) {
    const int result = ::connect(op.fd, op.address, static_cast<socklen_t>(op.address_size));
    return attempted(op, result == 0 ? 0 : errno);
  }
  error_code ec;
  if (poll_descriptor(op.fd, POLLOUT, 0, ec))
    return ended(op);
  op.ec = ec;
  return ec ? io_status::done : io_status::again;
}

void prepare_connect(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<connect_operation&>(base);
  if (op.under_way)
    io_uring_prep_poll_add(&sqe, op.fd, POLLOUT);
  else
    io_uring_prep_connect(&sqe, op.fd, op.address, static_cast<socklen_t>(op.address_size));
}

io_status finish_connect(io_operation& base, io_answer answer) noexcept {
  auto& op = static_cast<connect_operation&>(base);
  if (!op.under_way)
    return attempted(op, answer.result < 0 ? -answer.result : 0);
  if (answer.result == -EINTR || answer.result == -EAGAIN)
    return io_status::again;
  if (answer.result < 0) {
    op.fail(-answer.result);
    return io_status::done;
  }
  return ended(op);
}

}  // namespace

const io_kind connect_operation::connect_kind{.perform = &perform_connect,
                                              .prepare = &prepare_connect,
                                              .finish = &finish_connect,
                                              .activity = io_activity::connect};

}  // namespace WEFT_NAMESPACE::detail
