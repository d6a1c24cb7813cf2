// SPDX-License-Identifier: BSL-1.0
#include "io/op/quiet_write.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/found_once.hpp"
#include "io/op/pipe_signal_guard.hpp"
#include "io/op/vectors.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

/// Whether the kernel knows the flag: tried once, on a pipe of our own.
bool try_flag() noexcept {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  char byte = 0;
  const iovec one{&byte, 1};
  const bool known = ::pwritev2(ends[1], &one, 1, -1, quiet_write_flag) == 1;
  ::close(ends[0]);
  ::close(ends[1]);
  return known;
}

}  // namespace

bool quiet_write_flag_known() noexcept {
  constinit static found_once known;
  return known.get(try_flag);
}

ssize_t quiet_write(int fd, const io_vector* vectors, std::size_t count) noexcept {
  if (quiet_write_flag_known()) {
    const ssize_t n =
        ::pwritev2(fd, native(vectors), static_cast<int>(count), -1, quiet_write_flag);
    if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL))
      return n;
    // Some devices take no flags: an eventfd, for one.
  }
  return masked_write(fd, vectors, count);
}

ssize_t masked_write(int fd, const io_vector* vectors, std::size_t count) noexcept {
  pipe_signal_guard guard;
  const ssize_t n = ::writev(fd, native(vectors), static_cast<int>(count));
  if (n < 0 && errno == EPIPE)
    guard.raised();
  return n;
}

}  // namespace WEFT_NAMESPACE::detail
