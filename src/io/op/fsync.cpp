// SPDX-License-Identifier: BSL-1.0
#include <liburing.h>

#include <weft/io/basic_file.hpp>
#include <weft/io/op/file_call.hpp>

#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_fsync(io_operation& op) noexcept {
  op.ec = sync_file(op.fd, false);
  return io_status::done;
}

io_status perform_fdatasync(io_operation& op) noexcept {
  op.ec = sync_file(op.fd, true);
  return io_status::done;
}

void prepare_fsync(io_operation& op, io_uring_sqe& sqe) noexcept {
  io_uring_prep_fsync(&sqe, op.fd, 0);
}

void prepare_fdatasync(io_operation& op, io_uring_sqe& sqe) noexcept {
  io_uring_prep_fsync(&sqe, op.fd, IORING_FSYNC_DATASYNC);
}

}  // namespace

const io_kind fsync_kind{&perform_fsync, &prepare_fsync, &finish_status, true};
const io_kind fdatasync_kind{&perform_fdatasync, &prepare_fdatasync, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
