// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/path.hpp>

#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>

#include "io/op/retry.hpp"
#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_rename(io_operation& base) noexcept {
  auto& op = static_cast<path_operation&>(base);
  op.ec = rename_path(op.path, op.second, op.flags);
  return io_status::done;
}

void prepare_rename(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<path_operation&>(base);
  io_uring_prep_renameat(&sqe, AT_FDCWD, op.path, AT_FDCWD, op.second, op.flags);
}

}  // namespace

error_code rename_path(const char* from, const char* to, unsigned flags) noexcept {
  return outcome(
      retry_interrupted([&] { return ::renameat2(AT_FDCWD, from, AT_FDCWD, to, flags); }));
}

const io_kind rename_kind{&perform_rename, &prepare_rename, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
