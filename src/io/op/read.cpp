// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/read.hpp>

#include <unistd.h>

#include <weft/base/error.hpp>

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

io_status finish_file_read(io_operation& base, int result) noexcept {
  if (result == -EINTR)
    return io_status::again;
  if (result < 0)
    base.fail(-result);
  else
    received(static_cast<read_operation&>(base), result);
  return io_status::done;
}

}  // namespace

// Without `prepare`: the descriptors' drivers differ in what io_uring may do with them without
// blocking (terminals: nothing), so it is asked for readiness only.
const io_kind read_operation::ready_kind{&perform_ready_read, nullptr, nullptr};
const io_kind read_operation::file_kind{&perform_file_read, &prepare_file_read, &finish_file_read,
                                        true};

}  // namespace WEFT_NAMESPACE::detail
