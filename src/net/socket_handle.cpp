// SPDX-License-Identifier: BSL-1.0
#include <weft/net/socket_handle.hpp>

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/base/error.hpp>
#include <weft/net/socket_option.hpp>

namespace WEFT_NAMESPACE::detail {

namespace {

/// The error of a call that returned `result`.
error_code result_code(int result) noexcept {
  return result < 0 ? errno_code(errno) : error_code();
}

}  // namespace

error_code socket_handle::open(int family, int type, int protocol) noexcept {
  if (is_open())
    return error::already_open;
  const int fd = ::socket(family, type | SOCK_CLOEXEC, protocol);
  if (fd < 0)
    return errno_code(errno);
  const error_code ec = adopt(fd);
  if (ec)
    ::close(fd);
  return ec;
}

error_code socket_handle::assign(int type, int fd) noexcept {
  int actual = 0;
  socklen_t size = sizeof(actual);
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &actual, &size) != 0)
    return errno_code(errno);
  if (actual != type)
    return errno_code(EPROTOTYPE);
  const int status = ::fcntl(fd, F_GETFL);
  if (status < 0)
    return errno_code(errno);
  const error_code ec = adopt(fd);
  if (!ec)
    set_flag(native_by_user, (status & O_NONBLOCK) != 0);
  return ec;
}

int socket_handle::release(error_code& ec) noexcept {
  const unsigned notes = flags();
  const int fd = io_handle::release(ec);
  if (fd >= 0 && (notes & native_borrowed) != 0 && (notes & (native_by_user | shared)) == 0)
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

error_code socket_handle::bind(const sockaddr* address, std::size_t size) const noexcept {
  return result_code(::bind(native_handle(), address, static_cast<socklen_t>(size)));
}

error_code socket_handle::listen(int backlog) const noexcept {
  return result_code(::listen(native_handle(), backlog));
}

error_code socket_handle::shutdown(int what) const noexcept {
  return result_code(::shutdown(native_handle(), what));
}

error_code socket_handle::local_endpoint(sockaddr* address, std::size_t& size) const noexcept {
  auto length = static_cast<socklen_t>(size);
  const error_code ec = result_code(::getsockname(native_handle(), address, &length));
  size = length < size ? length : size;
  return ec;
}

error_code socket_handle::remote_endpoint(sockaddr* address, std::size_t& size) const noexcept {
  auto length = static_cast<socklen_t>(size);
  const error_code ec = result_code(::getpeername(native_handle(), address, &length));
  size = length < size ? length : size;
  return ec;
}

error_code socket_handle::set_option(int level, int name, const void* data,
                                     std::size_t size) noexcept {
  if (!is_open())
    return error::bad_descriptor;
  if (level != library_option_level) {
    const error_code ec =
        result_code(::setsockopt(native_handle(), level, name, data, static_cast<socklen_t>(size)));
    if (level == IPPROTO_UDP && name == UDP_SEGMENT)
      set_flag(segments_asked, false);
    return ec;
  }
  if (name != enable_connection_aborted_option || size != sizeof(int))
    return error::invalid_argument;
  set_flag(report_aborted, *static_cast<const int*>(data) != 0);
  return {};
}

error_code socket_handle::get_option(int level, int name, void* data,
                                     std::size_t& size) const noexcept {
  if (!is_open())
    return error::bad_descriptor;
  if (level == library_option_level) {
    if (name != enable_connection_aborted_option || size != sizeof(int))
      return error::invalid_argument;
    *static_cast<int*>(data) = reports_aborted_connections() ? 1 : 0;
    return {};
  }
  auto length = static_cast<socklen_t>(size);
  const error_code ec = result_code(::getsockopt(native_handle(), level, name, data, &length));
  size = length;
  return ec;
}

error_code socket_handle::io_control(unsigned long command, void* data) const noexcept {
  return result_code(::ioctl(native_handle(), command, data));
}

std::size_t socket_handle::available(error_code& ec) const noexcept {
  int value = 0;
  ec = io_control(FIONREAD, &value);
  // Some sockets know no such number: to them, as to a listening one, nothing is available.
  if (ec == error_code(ENOTTY, system_category()))
    ec = error_code();
  return ec ? 0 : static_cast<std::size_t>(value);
}

bool socket_handle::at_mark(error_code& ec) const noexcept {
  const int result = ::sockatmark(native_handle());
  ec = result_code(result);
  return result > 0;
}

error_code socket_handle::set_native(bool mode) const noexcept {
  const int status = ::fcntl(native_handle(), F_GETFL);
  if (status < 0)
    return errno_code(errno);
  const int wanted = mode ? status | O_NONBLOCK : status & ~O_NONBLOCK;
  return wanted == status ? error_code() : result_code(::fcntl(native_handle(), F_SETFL, wanted));
}

error_code socket_handle::non_blocking(bool mode) noexcept {
  if (!is_open())
    return error::bad_descriptor;
  if (mode && !native_non_blocking()) {
    if (const error_code ec = set_native(true))
      return ec;
    set_flag(native_for_user, true);
  } else if (!mode && (flags() & native_flags) == native_for_user) {
    if (const error_code ec = set_native(false))
      return ec;
    set_flag(native_for_user, false);
  }
  set_flag(user_non_blocking, mode);
  return {};
}

error_code socket_handle::native_non_blocking(bool mode) noexcept {
  if (!is_open())
    return error::bad_descriptor;
  if (!mode && non_blocking())
    return error::invalid_argument;
  if (const error_code ec = set_native(mode))
    return ec;
  set_flag(native_by_user, mode);
  if (!mode)
    set_flag(native_borrowed, false);
  return {};
}

error_code socket_handle::make_asynchronous() noexcept {
  if ((flags() & (native_by_user | native_by_library)) != 0)
    return {};
  const error_code ec = set_native(true);
  if (!ec)
    set_flag(native_by_library, true);
  return ec;
}

bool socket_handle::enable_zero_copy() noexcept {
  if ((flags() & zero_copy_enabled) != 0)
    return true;
  const int on = 1;
  if (!is_open() || ::setsockopt(native_handle(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) != 0)
    return false;
  set_flag(zero_copy_enabled, true);
  return true;
}

segmentation socket_handle::segments() noexcept {
  if ((flags() & segments_asked) == 0 && is_open()) {
    int size = 0;
    socklen_t length = sizeof(size);
    const bool there = ::getsockopt(native_handle(), IPPROTO_UDP, UDP_SEGMENT, &size, &length) == 0;
    set_flag(segments_on_demand, there);
    set_flag(segments_automatic, there && size == 0);
    set_flag(segments_asked, true);
  }
  const unsigned known = flags();
  return (known & segments_automatic) != 0   ? segmentation::automatic
         : (known & segments_on_demand) != 0 ? segmentation::on_demand
                                             : segmentation::none;
}

void close_descriptor(int fd) noexcept {
  if (fd >= 0)
    ::close(fd);
}

error_code make_socket_pair(int family, int type, int protocol, int (&fds)[2]) noexcept {
  return result_code(::socketpair(family, type | SOCK_CLOEXEC, protocol, fds));
}

}  // namespace WEFT_NAMESPACE::detail
