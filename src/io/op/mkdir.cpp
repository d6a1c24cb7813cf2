// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/path.hpp>

#include <fcntl.h>
#include <liburing.h>
#include <sys/stat.h>

#include "io/op/retry.hpp"
#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_mkdir(io_operation& base) noexcept {
  auto& op = static_cast<path_operation&>(base);
  op.ec = make_directory(op.path, op.flags);
  return io_status::done;
}

void prepare_mkdir(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<path_operation&>(base);
  io_uring_prep_mkdirat(&sqe, AT_FDCWD, op.path, op.flags);
}

}  // namespace

error_code make_directory(const char* path, unsigned permissions) noexcept {
  return outcome(retry_interrupted([&] { return ::mkdir(path, permissions); }));
}

const io_kind mkdir_kind{&perform_mkdir, &prepare_mkdir, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
