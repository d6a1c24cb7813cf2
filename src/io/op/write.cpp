// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/write.hpp>

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

io_status finish_file_write(io_operation& base, int result) noexcept {
  if (result == -EINTR)
    return io_status::again;
  if (result < 0)
    base.fail(-result);
  else
    sent(static_cast<write_operation&>(base), result);
  return io_status::done;
}

}  // namespace

// Without `prepare`: a write by io_uring would raise SIGPIPE before Linux 6.18; see read.cpp too.
const io_kind write_operation::ready_kind{&perform_ready_write, nullptr, nullptr};
const io_kind write_operation::file_kind{&perform_file_write, &prepare_file_write,
                                         &finish_file_write, true};

}  // namespace WEFT_NAMESPACE::detail
