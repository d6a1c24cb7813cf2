// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/path.hpp>

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include "io/op/retry.hpp"
#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_unlink(io_operation& base) noexcept {
  base.ec = unlink_path(static_cast<path_operation&>(base).path);
  return io_status::done;
}

io_status perform_rmdir(io_operation& base) noexcept {
  base.ec = remove_directory(static_cast<path_operation&>(base).path);
  return io_status::done;
}

void prepare_unlink(io_operation& base, io_uring_sqe& sqe) noexcept {
  io_uring_prep_unlinkat(&sqe, AT_FDCWD, static_cast<path_operation&>(base).path, 0);
}

void prepare_rmdir(io_operation& base, io_uring_sqe& sqe) noexcept {
  io_uring_prep_unlinkat(&sqe, AT_FDCWD, static_cast<path_operation&>(base).path, AT_REMOVEDIR);
}

}  // namespace

error_code unlink_path(const char* path) noexcept {
  return outcome(retry_interrupted([&] { return ::unlink(path); }));
}

error_code remove_directory(const char* path) noexcept {
  return outcome(retry_interrupted([&] { return ::rmdir(path); }));
}

const io_kind unlink_kind{&perform_unlink, &prepare_unlink, &finish_status, true};
const io_kind rmdir_kind{&perform_rmdir, &prepare_rmdir, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
