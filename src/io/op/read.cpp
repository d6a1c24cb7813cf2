// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/read.hpp>

#include <poll.h>
#include <unistd.h>

#include <liburing.h>

#include <weft/base/error.hpp>

#include "io/op/fixed_transfer.hpp"
#include "io/op/retry.hpp"
#include "io/op/vectors.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

void received(read_operation& op, ssize_t n) noexcept {
  op.bytes = static_cast<std::size_t>(n);
  if (n == 0 && wants_bytes(op.vectors, op.count))
    op.ec = error::eof;
  else
    op.ec.clear();
}

io_status perform_ready_read(io_operation& base) noexcept {
  auto& op = static_cast<read_operation&>(base);
  const ssize_t n = retry_interrupted([&] {
    return op.count == 1 ? ::read(op.fd, op.vectors->base, op.vectors->size)
                         : ::readv(op.fd, native(op.vectors), static_cast<int>(op.count));
  });
  if (n < 0 && would_block(errno))
    return io_status::again;
  if (n < 0)
    op.fail(errno);
  else
    received(op, n);
  return io_status::done;
}

io_status perform_file_read(io_operation& base) noexcept {
  auto& op = static_cast<read_operation&>(base);
  const ssize_t n = retry_interrupted([&] {
    const auto count = static_cast<int>(op.count);
    return op.mode == transfer_mode::file
               ? ::readv(op.fd, native(op.vectors), count)
               : ::preadv(op.fd, native(op.vectors), count, static_cast<off_t>(op.offset));
  });
  if (n < 0)
    op.fail(errno);
  else
    received(op, n);
  return io_status::done;
}

void prepare_file_read(io_operation& base, io_uring_sqe& sqe) noexcept {
  prepare_transfer(static_cast<read_operation&>(base), sqe, IORING_OP_READ, IORING_OP_READV);
}

io_status finish_file_read(io_operation& base, io_answer answer) noexcept {
  if (answer.result == -EINTR)
    return io_status::again;
  if (answer.result < 0)
    base.fail(-answer.result);
  else
    received(static_cast<read_operation&>(base), answer.result);
  return io_status::done;
}

void prepare_fixed_read(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<read_registered_operation&>(base);
  prepare_fixed(sqe, IORING_OP_READ_FIXED, op.fd, op.registered, op.vectors->base, op.vectors->size,
                transfer_offset(op));
}

void prepare_registered_ready_read(io_operation& base, io_uring_sqe& sqe) noexcept {
  if (registered_of<read_registered_operation>(base).fixed)
    prepare_fixed_read(base, sqe);
  else
    io_uring_prep_poll_add(&sqe, base.fd, POLLIN | POLLRDHUP);
}

io_status finish_fixed_or_ready_read(io_operation& base, io_answer answer) noexcept {
  if (registered_of<read_registered_operation>(base).fixed || answer.result < 0)
    return finish_file_read(base, answer);
  return perform_ready_read(base);
}

void prepare_registered_file_read(io_operation& base, io_uring_sqe& sqe) noexcept {
  if (registered_of<read_registered_operation>(base).fixed)
    prepare_fixed_read(base, sqe);
  else
    prepare_file_read(base, sqe);
}

}  // namespace

// Without `prepare`: the descriptors' drivers differ in what io_uring may do with them without
// blocking (terminals: nothing), so it is asked for readiness only.
const io_kind read_operation::ready_kind{&perform_ready_read, nullptr, nullptr};
const io_kind read_operation::file_kind{&perform_file_read, &prepare_file_read, &finish_file_read,
                                        true};

const io_kind read_registered_operation::registered_ready_kind{
    .perform = &perform_ready_read,
    .prepare = &prepare_registered_ready_read,
    .finish = &finish_registered<read_registered_operation, &finish_fixed_or_ready_read>,
    .registered = &registered_of<read_registered_operation>};
const io_kind read_registered_operation::registered_file_kind{
    .perform = &perform_file_read,
    .prepare = &prepare_registered_file_read,
    .finish = &finish_registered<read_registered_operation, &finish_file_read>,
    .blocking = true,
    .registered = &registered_of<read_registered_operation>};

const io_kind& read_registered_operation::kind_for(const registered_transfer& buffer,
                                                   transfer_mode how) noexcept {
  if (!buffer.is_effective())
    return plain_kind(how);
  return how == transfer_mode::ready ? registered_ready_kind : registered_file_kind;
}

}  // namespace WEFT_NAMESPACE::detail
