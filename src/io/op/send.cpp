// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/send.hpp>

#include <sys/socket.h>

#include <liburing.h>

#include "io/op/destination.hpp"
#include "io/op/fixed_transfer.hpp"
#include "io/op/one_buffer.hpp"
#include "io/op/parts.hpp"
#include "io/op/quiet_write.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// Takes note of the answer of a system call: bytes, or a negated errno value.
io_status sent(transfer_operation& op, ssize_t result) noexcept {
  if (result >= 0) {
    op.bytes = static_cast<std::size_t>(result);
    return io_status::done;
  }
  const int errno_value = static_cast<int>(-result);
  if (would_block(errno_value) || errno_value == EINTR)
    return io_status::again;
  op.bytes = 0;
  op.fail(errno_value);
  return io_status::done;
}

io_status perform_send(io_operation& base) noexcept {
  auto& op = static_cast<send_operation&>(base);
  const ssize_t n = retry_interrupted([&] {
    return ::send(op.fd, op.buffer.data(), op.buffer.size(),
                  op.flags | MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  return sent(op, n < 0 ? -errno : n);
}

void prepare_send(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<send_operation&>(base);
  io_uring_prep_send(&sqe, op.fd, op.buffer.data(), op.buffer.size(),
                     waiting_flags(op.flags) | MSG_NOSIGNAL);
}

io_status perform_send_message(io_operation& base) noexcept {
  auto& op = static_cast<send_message_operation&>(base);
  const message_header& header = op.header;
  const int flags = op.flags | MSG_DONTWAIT | MSG_NOSIGNAL;
  const ssize_t n = retry_interrupted([&] {
    if (is_one_buffer_with_address(header))
      return ::sendto(op.fd, header.vectors->base, header.vectors->size, flags,
                      static_cast<const sockaddr*>(header.name), header.name_size);
    return ::sendmsg(op.fd, reinterpret_cast<const msghdr*>(&header), flags);
  });
  const io_status status = sent(op, n < 0 ? -errno : n);
  return status == io_status::again && full_elsewhere(op.fd, header.name) ? io_status::later
                                                                          : status;
}

// ---- all of one buffer

/// Takes note of a failure, unless it only means "not now".
[[gnu::noinline]] io_status sent_nothing(send_all_operation& op, int errno_value) noexcept {
  if (would_block(errno_value) || errno_value == EINTR)
    return io_status::again;
  op.fail(errno_value);
  return io_status::done;
}

/// Takes note of an answer: bytes, or a negated errno value.
io_status sent_part(send_all_operation& op, ssize_t result) noexcept {
  if (result < 0) [[unlikely]]
    return sent_nothing(op, static_cast<int>(-result));
  op.bytes += static_cast<std::size_t>(result);
  return op.bytes == op.buffer.size() ? io_status::done : io_status::again;
}

io_status perform_send_all(io_operation& base) noexcept {
  auto& op = static_cast<send_all_operation&>(base);
  return transfer_parts(op, [&op](std::size_t done) {
    const ssize_t n = retry_interrupted([&] {
      return ::send(op.fd, static_cast<const char*>(op.buffer.data()) + done,
                    op.buffer.size() - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    });
    return sent_part(op, n < 0 ? -errno : n);
  });
}

void prepare_send_all(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<send_all_operation&>(base);
  const const_buffer left = op.buffer + op.bytes;
  io_uring_prep_send(&sqe, op.fd, left.data(), left.size(), MSG_NOSIGNAL);
}

io_status finish_sent_part(io_operation& base, io_answer answer) noexcept {
  return sent_part(static_cast<send_all_operation&>(base), answer.result);
}

// ---- a message header

void prepare_send_message(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<send_message_operation&>(base);
  io_uring_prep_sendmsg(&sqe, op.fd, reinterpret_cast<const msghdr*>(&op.header),
                        static_cast<unsigned>(waiting_flags(op.flags) | MSG_NOSIGNAL));
}

io_status finish_sent(io_operation& base, io_answer answer) noexcept {
  return sent(static_cast<transfer_operation&>(base), answer.result);
}

void prepare_send_registered(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<send_registered_operation&>(base);
  if (!op.registered.fixed) {
    prepare_send(base, sqe);
    return;
  }
  prepare_fixed(sqe, IORING_OP_WRITE_FIXED, op.fd, op.registered, op.buffer.data(),
                op.buffer.size(), 0);
  sqe.rw_flags = quiet_write_flag;
}

}  // namespace

const io_kind send_operation::send_kind{&perform_send, &prepare_send, &finish_sent};
const io_kind send_all_operation::send_all_kind{.perform = &perform_send_all,
                                                .prepare = &prepare_send_all,
                                                .finish = &finish_sent_part,
                                                .whole = true};
const io_kind send_message_operation::send_message_kind{&perform_send_message,
                                                        &prepare_send_message, &finish_sent};
// Of the room at a UNIX-domain destination io_uring is not told either; and from its second attempt
// on it may send an empty datagram.
const io_kind send_message_operation::send_unix_message_kind{&perform_send_message, nullptr,
                                                             nullptr};

const io_kind& send_message_operation::kind_for(const void* destination) noexcept {
  return destination && static_cast<const sockaddr*>(destination)->sa_family == AF_UNIX
             ? send_unix_message_kind
             : send_message_kind;
}

const io_kind send_registered_operation::registered_kind{
    .perform = &perform_send,
    .prepare = &prepare_send_registered,
    .finish = &finish_registered<send_registered_operation, &finish_sent>,
    .registered = &registered_of<send_registered_operation>};

const io_kind& send_registered_operation::kind_for(const registered_transfer& buffer,
                                                   int flags) noexcept {
  return buffer.is_effective() && flags == 0 && quiet_write_flag_known() ? registered_kind
                                                                         : send_kind;
}

}  // namespace WEFT_NAMESPACE::detail
