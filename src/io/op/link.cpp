// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/path.hpp>

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include "io/op/retry.hpp"
#include "io/op/status_call.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_link(io_operation& base) noexcept {
  auto& op = static_cast<path_operation&>(base);
  op.ec = link_path(op.path, op.second);
  return io_status::done;
}

io_status perform_symlink(io_operation& base) noexcept {
  auto& op = static_cast<path_operation&>(base);
  op.ec = symlink_path(op.path, op.second);
  return io_status::done;
}

void prepare_link(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<path_operation&>(base);
  io_uring_prep_linkat(&sqe, AT_FDCWD, op.path, AT_FDCWD, op.second, 0);
}

void prepare_symlink(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<path_operation&>(base);
  io_uring_prep_symlinkat(&sqe, op.path, AT_FDCWD, op.second);
}

}  // namespace

error_code link_path(const char* existing, const char* name) noexcept {
  return outcome(retry_interrupted([&] { return ::link(existing, name); }));
}

error_code symlink_path(const char* target, const char* name) noexcept {
  return outcome(retry_interrupted([&] { return ::symlink(target, name); }));
}

const io_kind link_kind{&perform_link, &prepare_link, &finish_status, true};
const io_kind symlink_kind{&perform_symlink, &prepare_symlink, &finish_status, true};

}  // namespace WEFT_NAMESPACE::detail
