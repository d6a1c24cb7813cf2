// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/write.hpp>

#include <poll.h>

#include <liburing.h>

#include "io/op/fixed_transfer.hpp"
#include "io/op/quiet_write.hpp"
#include "io/op/retry.hpp"
#include "io/op/vectors.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

void sent(write_operation& op, ssize_t n) noexcept {
  op.ec.clear();
  op.bytes = static_cast<std::size_t>(n);
}

io_status perform_ready_write(io_operation& base) noexcept {
  auto& op = static_cast<write_operation&>(base);
  const ssize_t n = retry_interrupted([&] { return quiet_write(op.fd, op.vectors, op.count); });
  if (n < 0 && would_block(errno))
    return io_status::again;
  if (n < 0)
    op.fail(errno);
  else
    sent(op, n);
  return io_status::done;
}

io_status perform_file_write(io_operation& base) noexcept {
  auto& op = static_cast<write_operation&>(base);
  const ssize_t n = retry_interrupted([&] {
    const auto count = static_cast<int>(op.count);
    return op.mode == transfer_mode::file
               ? ::writev(op.fd, native(op.vectors), count)
               : ::pwritev(op.fd, native(op.vectors), count, static_cast<off_t>(op.offset));
  });
  if (n < 0)
    op.fail(errno);
  else
    sent(op, n);
  return io_status::done;
}

void prepare_file_write(io_operation& base, io_uring_sqe& sqe) noexcept {
  prepare_transfer(static_cast<write_operation&>(base), sqe, IORING_OP_WRITE, IORING_OP_WRITEV);
}

io_status finish_file_write(io_operation& base, io_answer answer) noexcept {
  if (answer.result == -EINTR)
    return io_status::again;
  if (answer.result < 0)
    base.fail(-answer.result);
  else
    sent(static_cast<write_operation&>(base), answer.result);
  return io_status::done;
}

void prepare_fixed_write(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<write_registered_operation&>(base);
  prepare_fixed(sqe, IORING_OP_WRITE_FIXED, op.fd, op.registered, op.vectors->base,
                op.vectors->size, transfer_offset(op));
  if (op.mode == transfer_mode::ready)
    sqe.rw_flags = quiet_write_flag;
}

void prepare_registered_ready_write(io_operation& base, io_uring_sqe& sqe) noexcept {
  if (registered_of<write_registered_operation>(base).fixed)
    prepare_fixed_write(base, sqe);
  else
    io_uring_prep_poll_add(&sqe, base.fd, POLLOUT);
}

io_status finish_fixed_or_ready_write(io_operation& base, io_answer answer) noexcept {
  if (registered_of<write_registered_operation>(base).fixed || answer.result < 0)
    return finish_file_write(base, answer);
  return perform_ready_write(base);
}

void prepare_registered_file_write(io_operation& base, io_uring_sqe& sqe) noexcept {
  if (registered_of<write_registered_operation>(base).fixed)
    prepare_fixed_write(base, sqe);
  else
    prepare_file_write(base, sqe);
}

}  // namespace

// Without `prepare`: a write by io_uring would raise SIGPIPE before Linux 6.18; see read.cpp too.
const io_kind write_operation::ready_kind{&perform_ready_write, nullptr, nullptr};
const io_kind write_operation::file_kind{&perform_file_write, &prepare_file_write,
                                         &finish_file_write, true};

const io_kind write_registered_operation::registered_ready_kind{
    .perform = &perform_ready_write,
    .prepare = &prepare_registered_ready_write,
    .finish = &finish_registered<write_registered_operation, &finish_fixed_or_ready_write>,
    .registered = &registered_of<write_registered_operation>};
const io_kind write_registered_operation::registered_file_kind{
    .perform = &perform_file_write,
    .prepare = &prepare_registered_file_write,
    .finish = &finish_registered<write_registered_operation, &finish_file_write>,
    .blocking = true,
    .registered = &registered_of<write_registered_operation>};

const io_kind& write_registered_operation::kind_for(const registered_transfer& buffer,
                                                    transfer_mode how) noexcept {
  if (!buffer.is_effective() || (how == transfer_mode::ready && !quiet_write_flag_known()))
    return plain_kind(how);
  return how == transfer_mode::ready ? registered_ready_kind : registered_file_kind;
}

}  // namespace WEFT_NAMESPACE::detail
