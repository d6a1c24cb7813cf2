// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/receive.hpp>

#include <poll.h>
#include <sys/socket.h>

#include <liburing.h>

#include <weft/base/error.hpp>
#include <weft/io/op/wait.hpp>

#include "io/io_driver.hpp"
#include "io/op/fixed_transfer.hpp"
#include "io/op/one_buffer.hpp"
#include "io/op/parts.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

msghdr* native(message_header& header) noexcept {
  return reinterpret_cast<msghdr*>(&header);
}

/// Takes note of `n` bytes received of at most `size`. `cut` says that the call may have ended
/// before the stream did: at descriptors passed along, which recv(2) does not tell of.
io_status received(transfer_operation& op, std::size_t n, std::size_t size, receive_mode mode,
                   bool cut) noexcept {
  op.bytes = n;
  if (n == size || mode == receive_mode::datagram)
    return io_status::done;
  if (n == 0)
    op.ec = error::eof;
  return n != 0 && n < size && !cut && mode != receive_mode::record ? io_status::drained
                                                                    : io_status::done;
}

/// Takes note of a failure, unless it only means "not now".
io_status failed(transfer_operation& op, int flags, int errno_value) noexcept {
  if (would_block(errno_value) || errno_value == EINTR)
    return io_status::again;
  error_code ignored;
  if (errno_value == EINVAL && (flags & MSG_OOB) != 0 &&
      !poll_descriptor(op.fd, POLLPRI, 0, ignored))
    return io_status::again;
  op.bytes = 0;
  op.fail(errno_value);
  return io_status::done;
}

/// What a receive came to that has ended with `status`: drained, if it was from a stream, and
/// io_uring says that nothing is left. It says so also of protocols for which it does not know
/// (SCTP, MPTCP): then the next receive waits first in vain.
io_status unless_emptied(io_status status, receive_mode mode, io_answer answer) noexcept {
  const bool streams = mode == receive_mode::stream || mode == receive_mode::unix_stream;
  const bool is_left = (answer.flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
  return streams && answer.result > 0 && !is_left ? io_status::drained : status;
}

/// Spares io_uring an attempt if the last one has left nothing: it waits for readiness first
/// (IORING_RECVSEND_POLL_FIRST, Linux 5.19).
void wait_first_if_emptied(const io_operation& op, io_uring_sqe& sqe) noexcept {
  static_assert(IORING_RECVSEND_POLL_FIRST == 1);
  sqe.ioprio = io_driver::has_emptied(op);
}

// ---- one buffer

io_status received_whole(receive_operation& op, std::size_t n) noexcept {
  const bool cut = op.mode == receive_mode::unix_stream || (op.flags & (MSG_PEEK | MSG_OOB)) != 0;
  return received(op, n, op.buffer.size(), op.mode, cut);
}

io_status perform_receive(io_operation& base) noexcept {
  auto& op = static_cast<receive_operation&>(base);
  const ssize_t n = retry_interrupted(
      [&] { return ::recv(op.fd, op.buffer.data(), op.buffer.size(), op.flags | MSG_DONTWAIT); });
  if (n < 0)
    return failed(op, op.flags, errno);
  return received_whole(op, static_cast<std::size_t>(n));
}

void prepare_receive(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<receive_operation&>(base);
  io_uring_prep_recv(&sqe, op.fd, op.buffer.data(), op.buffer.size(), waiting_flags(op.flags));
  wait_first_if_emptied(op, sqe);
}

io_status finish_receive(io_operation& base, io_answer answer) noexcept {
  auto& op = static_cast<receive_operation&>(base);
  if (answer.result < 0)
    return failed(op, op.flags, -answer.result);
  const io_status status = received_whole(op, static_cast<std::size_t>(answer.result));
  return unless_emptied(status, op.mode, answer);
}

// ---- all of one buffer

/// Takes note of the end of the stream, or of a failure.
[[gnu::noinline]] io_status received_nothing(receive_all_operation& op, ssize_t result) noexcept {
  const int errno_value = static_cast<int>(-result);
  if (would_block(errno_value) || errno_value == EINTR)
    return io_status::again;
  if (result == 0)
    op.ec = error::eof;
  else
    op.fail(errno_value);
  return io_status::done;
}

/// Takes note of an answer: bytes, or a negated errno value.
io_status received_part(receive_all_operation& op, ssize_t result) noexcept {
  if (result <= 0) [[unlikely]]
    return received_nothing(op, result);
  op.bytes += static_cast<std::size_t>(result);
  return op.bytes == op.buffer.size() ? io_status::done : io_status::again;
}

io_status perform_receive_all(io_operation& base) noexcept {
  auto& op = static_cast<receive_all_operation&>(base);
  return transfer_parts(op, [&op](std::size_t done) {
    const ssize_t n = retry_interrupted([&] {
      return ::recv(op.fd, static_cast<char*>(op.buffer.data()) + done, op.buffer.size() - done,
                    MSG_DONTWAIT);
    });
    return received_part(op, n < 0 ? -errno : n);
  });
}

void prepare_receive_all(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<receive_all_operation&>(base);
  const mutable_buffer left = op.buffer + op.bytes;
  io_uring_prep_recv(&sqe, op.fd, left.data(), left.size(), 0);
  wait_first_if_emptied(op, sqe);
}

io_status finish_receive_all(io_operation& base, io_answer answer) noexcept {
  auto& op = static_cast<receive_all_operation&>(base);
  const io_status status = received_part(op, answer.result);
  return status == io_status::done ? unless_emptied(status, op.mode, answer) : status;
}

// ---- one registered buffer

void prepare_receive_registered(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<receive_registered_operation&>(base);
  if (op.registered.fixed)
    prepare_fixed(sqe, IORING_OP_READ_FIXED, op.fd, op.registered, op.buffer.data(),
                  op.buffer.size(), 0);
  else
    prepare_receive(base, sqe);
}

// ---- a message header

void reset(receive_message_operation& op) noexcept {
  op.header.name_size = op.name_capacity;
  op.header.control_size = op.control_capacity;
  op.header.flags = 0;
}

io_status received_message(receive_message_operation& op, std::size_t n) noexcept {
  const bool cut = op.header.control != nullptr || (op.header.flags & MSG_CTRUNC) != 0 ||
                   (op.flags & (MSG_PEEK | MSG_OOB)) != 0;
  return received(op, n, op.header.total_size(), op.mode, cut);
}

io_status perform_receive_message(io_operation& base) noexcept {
  auto& op = static_cast<receive_message_operation&>(base);
  reset(op);
  message_header& header = op.header;
  const ssize_t n = retry_interrupted([&] {
    if (is_one_buffer_with_address(header))
      return ::recvfrom(op.fd, header.vectors->base, header.vectors->size, op.flags | MSG_DONTWAIT,
                        static_cast<sockaddr*>(header.name), &header.name_size);
    return ::recvmsg(op.fd, native(header), op.flags | MSG_DONTWAIT);
  });
  if (n < 0)
    return failed(op, op.flags, errno);
  return received_message(op, static_cast<std::size_t>(n));
}

void prepare_receive_message(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<receive_message_operation&>(base);
  reset(op);
  io_uring_prep_recvmsg(&sqe, op.fd, native(op.header),
                        static_cast<unsigned>(waiting_flags(op.flags)));
  wait_first_if_emptied(op, sqe);
}

io_status finish_receive_message(io_operation& base, io_answer answer) noexcept {
  auto& op = static_cast<receive_message_operation&>(base);
  if (answer.result < 0)
    return failed(op, op.flags, -answer.result);
  const io_status status = received_message(op, static_cast<std::size_t>(answer.result));
  return unless_emptied(status, op.mode, answer);
}

}  // namespace

const io_kind receive_operation::receive_kind{&perform_receive, &prepare_receive, &finish_receive};
const io_kind receive_all_operation::receive_all_kind{.perform = &perform_receive_all,
                                                      .prepare = &prepare_receive_all,
                                                      .finish = &finish_receive_all,
                                                      .whole = true};
const io_kind receive_registered_operation::registered_kind{
    .perform = &perform_receive,
    .prepare = &prepare_receive_registered,
    .finish = &finish_registered<receive_registered_operation, &finish_receive>,
    .registered = &registered_of<receive_registered_operation>};
const io_kind receive_operation::urgent_kind{&perform_receive, nullptr, nullptr};
const io_kind receive_message_operation::urgent_message_kind{&perform_receive_message, nullptr,
                                                             nullptr};
const io_kind receive_message_operation::receive_message_kind{
    &perform_receive_message, &prepare_receive_message, &finish_receive_message};

}  // namespace WEFT_NAMESPACE::detail
