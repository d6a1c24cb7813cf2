// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/zero_copy.hpp>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <linux/errqueue.h>

#include <liburing.h>

#include "io/io_driver.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

static_assert(sizeof(zero_copy_operation::pause) == sizeof(__kernel_timespec));

/// Takes one message of the error queue. Returns false if it is empty.
bool take_notification(zero_copy_operation& op, bool& released) noexcept {
  alignas(cmsghdr) char control[256];
  msghdr message{};
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t n =
      retry_interrupted([&] { return ::recvmsg(op.fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT); });
  if (n < 0)
    return false;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    const bool v4 = c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVERR;
    const bool v6 = c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVERR;
    if (!v4 && !v6)
      continue;
    const auto* error = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(c));
    if (error->ee_origin != SO_EE_ORIGIN_ZEROCOPY)
      continue;
    // It stands for the sends from ee_info to ee_data; the numbers wrap around.
    if (static_cast<std::int32_t>(error->ee_data - op.id) >= 0) {
      released = true;
      op.copied = (error->ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0;
    }
  }
  return true;
}

io_status await_release(zero_copy_operation& op) noexcept {
  bool released = false;
  while (!released && take_notification(op, released)) {}
  return released ? io_status::done : io_status::again;
}

io_status perform_zero_copy(io_operation& base) noexcept {
  auto& op = static_cast<zero_copy_operation&>(base);
  if (op.sent)
    return await_release(op);
  const auto send = [&](int more) {
    return retry_interrupted([&] {
      return ::sendmsg(op.fd, reinterpret_cast<const msghdr*>(&op.header),
                       op.flags | more | MSG_DONTWAIT | MSG_NOSIGNAL);
    });
  };
  bool zero_copy = op.allowed;
  ssize_t n = send(zero_copy ? MSG_ZEROCOPY : 0);
  if (n < 0 && errno == ENOBUFS && zero_copy) {  // no room left to note it (optmem_max)
    zero_copy = false;
    n = send(0);
  }
  if (n < 0 && would_block(errno))
    return io_status::again;
  op.ec = error_code();
  op.bytes = n < 0 ? 0 : static_cast<std::size_t>(n);
  if (n < 0)
    op.fail(errno);
  if (n <= 0 || !zero_copy)
    return io_status::done;
  op.sent = true;
  op.id = io_driver::count_zero_copy(op);
  return await_release(op);
}

void prepare_zero_copy(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<zero_copy_operation&>(base);
  if (op.wait_by_time)
    io_uring_prep_timeout(&sqe, reinterpret_cast<__kernel_timespec*>(&op.pause), 0, 0);
  else
    io_uring_prep_poll_add(&sqe, op.fd, op.sent ? 0 : POLLOUT);
}

io_status finish_zero_copy(io_operation& base, io_answer answer) noexcept {
  auto& op = static_cast<zero_copy_operation&>(base);
  const bool timed = op.wait_by_time;
  if (!timed && answer.result < 0 && answer.result != -EINTR && answer.result != -EAGAIN) {
    op.fail(-answer.result);
    return io_status::done;
  }
  const io_status status = perform_zero_copy(op);
  op.wait_by_time = status == io_status::again && op.sent &&
                    (timed || (answer.result > 0 && (answer.result & (POLLERR | POLLHUP)) != 0));
  return status;
}

}  // namespace

const io_kind zero_copy_operation::zero_copy_kind{
    .perform = &perform_zero_copy, .prepare = &prepare_zero_copy, .finish = &finish_zero_copy};

}  // namespace WEFT_NAMESPACE::detail
