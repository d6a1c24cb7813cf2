// SPDX-License-Identifier: BSL-1.0
#include <weft/io/op/sendfile.hpp>

#include <sys/sendfile.h>

#include <algorithm>

#include "io/op/pipe_signal_guard.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

io_status perform_sendfile(io_operation& base) noexcept {
  auto& op = static_cast<sendfile_operation&>(base);
  error_code ec;
  op.bytes = sendfile_now(op.fd, op.file, op.offset, op.size, ec);
  op.ec = ec;
  return ec && would_block(ec.value()) ? io_status::again : io_status::done;
}

}  // namespace

std::size_t sendfile_now(int socket, int file, std::uint64_t offset, std::size_t size,
                         error_code& ec) noexcept {
  auto position = static_cast<off_t>(offset);
  pipe_signal_guard guard;
  const ssize_t n = retry_interrupted(
      [&] { return ::sendfile(socket, file, &position, std::min(size, sendfile_step)); });
  if (n >= 0)
    return static_cast<std::size_t>(n);
  if (errno == EPIPE)
    guard.raised();
  ec = errno_code(errno);
  return 0;
}

const io_kind sendfile_operation::sendfile_kind{&perform_sendfile, nullptr, nullptr};

}  // namespace WEFT_NAMESPACE::detail
