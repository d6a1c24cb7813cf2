// SPDX-License-Identifier: BSL-1.0
#include <weft/io/connect_pipe.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {

error_code connect_pipe(descriptor_handle& read_end, descriptor_handle& write_end) noexcept {
  if (read_end.is_open() || write_end.is_open())
    return error::already_open;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return errno_code(errno);
  error_code ec = read_end.assign(ends[0]);
  if (ec) {
    ::close(ends[0]);
    ::close(ends[1]);
    return ec;
  }
  ec = write_end.assign(ends[1]);
  if (ec) {
    read_end.close();
    ::close(ends[1]);
  }
  return ec;
}

}  // namespace WEFT_NAMESPACE::detail
