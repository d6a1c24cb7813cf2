// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/open.hpp>

#include <fcntl.h>
#include <liburing.h>
#include <unistd.h>

#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status opened(open_operation& op, int fd) noexcept {
  op.ec.clear();
  op.opened = fd;
  return io_status::done;
}

io_status perform_open(io_operation& base) noexcept {
  auto& op = static_cast<open_operation&>(base);
  const int fd =
      retry_interrupted([&] { return ::open(op.path, op.flags | O_CLOEXEC, op.permissions); });
  if (fd >= 0)
    return opened(op, fd);
  op.fail(errno);
  return io_status::done;
}

void prepare_open(io_operation& base, io_uring_sqe& sqe) noexcept {
  auto& op = static_cast<open_operation&>(base);
  io_uring_prep_openat(&sqe, AT_FDCWD, op.path, op.flags | O_CLOEXEC | O_LARGEFILE, op.permissions);
}

io_status finish_open(io_operation& base, io_answer answer) noexcept {
  if (answer.result >= 0)
    return opened(static_cast<open_operation&>(base), answer.result);
  if (answer.result == -EINTR)
    return io_status::again;
  base.fail(-answer.result);
  return io_status::done;
}

}  // namespace

void open_operation::discard(int fd) noexcept {
  if (fd >= 0)
    ::close(fd);
}

const io_kind open_operation::open_kind{&perform_open, &prepare_open, &finish_open, true};

}  // namespace WEFT_NAMESPACE::detail
