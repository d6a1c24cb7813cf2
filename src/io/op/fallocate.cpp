// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <liburing.h>

#include <weft/io/op/file_call.hpp>

#include "io/op/retry.hpp"
#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_fallocate(io_operation& base) noexcept {
  auto& op = static_cast<file_call_operation&>(base);
  op.ec = allocate_file(op.fd, op.flags, op.offset, op.length);
  return io_status::done;
}

void prepare_fallocate(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<file_call_operation&>(base);
  io_uring_prep_fallocate(&sqe, op.fd, op.flags, static_cast<off_t>(op.offset),
                          static_cast<off_t>(op.length));
}

}  // namespace

error_code allocate_file(int fd, int flags, std::uint64_t offset, std::uint64_t length) noexcept {
  return outcome(retry_interrupted([&] {
    return ::fallocate(fd, flags, static_cast<off_t>(offset), static_cast<off_t>(length));
  }));
}

const io_kind fallocate_kind{&perform_fallocate, &prepare_fallocate, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
