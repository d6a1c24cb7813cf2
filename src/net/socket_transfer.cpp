// SPDX-License-Identifier: BSL-1.0
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <thread>

#include <weft/base/error.hpp>
#include <weft/io/op/wait.hpp>
#include <weft/net/socket_handle.hpp>

#include "io/io_driver.hpp"
#include "io/op/destination.hpp"
#include "io/op/retry.hpp"

namespace WEFT_NAMESPACE::detail {

namespace {

constexpr int no_limit = -1;

/// Before another attempt at what no readiness tells of.
void pause() noexcept {
  std::this_thread::sleep_for(std::chrono::nanoseconds(io_driver::shortage_tick));
}

}  // namespace

error_code socket_handle::take_error() const noexcept {
  int pending = 0;
  socklen_t size = sizeof(pending);
  if (::getsockopt(native_handle(), SOL_SOCKET, SO_ERROR, &pending, &size) != 0)
    return errno_code(errno);
  return pending == 0 ? error_code() : errno_code(pending);
}

/// After a call that would block: whether it may be waited until it would not.
bool socket_handle::may_block(int flags, error_code& ec) const noexcept {
  // On a descriptor in blocking mode it was a time-out that the user has set (SO_RCVTIMEO).
  if (non_blocking() || !native_non_blocking() || (flags & MSG_DONTWAIT) != 0) {
    ec = error::would_block;
    return false;
  }
  return true;
}

/// The same; waits for readiness.
bool socket_handle::may_wait(io_queue what, int flags, error_code& ec) const noexcept {
  return may_block(flags, ec) && poll_descriptor(native_handle(), poll_events(what), no_limit, ec);
}

error_code socket_handle::connect(const sockaddr* address, std::size_t size) noexcept {
  const int fd = native_handle();
  if (::connect(fd, address, static_cast<socklen_t>(size)) == 0)
    return {};
  // Both go on by themselves: an interrupted connect must not be called again (connect(2)).
  if (errno != EINPROGRESS && errno != EINTR)
    return errno_code(errno);
  if (non_blocking())
    return error::would_block;
  error_code ec;
  return poll_descriptor(fd, POLLOUT, no_limit, ec) ? take_error() : ec;
}

int socket_handle::accept(sockaddr* address, std::size_t* size, error_code& ec) const noexcept {
  for (;;) {
    socklen_t length = size ? static_cast<socklen_t>(*size) : 0;
    const int fd = retry_interrupted([&] {
      return ::accept4(native_handle(), address, address ? &length : nullptr, SOCK_CLOEXEC);
    });
    if (fd >= 0) {
      if (size && length < *size)
        *size = length;
      ec = error_code();
      return fd;
    }
    if (would_block(errno)) {
      if (may_wait(io_queue::read, 0, ec))
        continue;
      return -1;
    }
    const bool aborted = errno == ECONNABORTED || errno == EPROTO;
    if (aborted && !reports_aborted_connections())
      continue;
    ec = aborted ? error_code(error::connection_aborted) : errno_code(errno);
    return -1;
  }
}

error_code socket_handle::wait(io_queue what) const noexcept {
  if (!is_open())
    return error::bad_descriptor;
  error_code ec;
  const int limit = non_blocking() ? 0 : no_limit;
  if (!poll_descriptor(native_handle(), poll_events(what), limit, ec) && !ec)
    ec = error::would_block;
  return ec;
}

std::size_t socket_handle::receive(message_header& header, int flags, receive_mode mode,
                                   error_code& ec) const noexcept {
  const bool stream = mode == receive_mode::stream || mode == receive_mode::unix_stream;
  const bool nothing_wanted = mode != receive_mode::datagram && header.total_size() == 0;
  ec = error_code();
  if (stream && nothing_wanted) {
    if (!is_open())
      ec = error::bad_descriptor;
    return 0;
  }
  const std::uint32_t name_capacity = header.name_size;
  const std::size_t control_capacity = header.control_size;
  const int how = flags | (non_blocking() ? MSG_DONTWAIT : 0);
  const bool plain = header.count == 1 && !header.name && !header.control && stream;
  for (;;) {
    header.name_size = name_capacity;
    header.control_size = control_capacity;
    const ssize_t n = retry_interrupted([&] {
      return plain ? ::recv(native_handle(), header.vectors->base, header.vectors->size, how)
                   : ::recvmsg(native_handle(), reinterpret_cast<msghdr*>(&header), how);
    });
    if (n > 0 || (n == 0 && (mode == receive_mode::datagram || nothing_wanted)))
      return static_cast<std::size_t>(n);
    if (n == 0) {
      ec = error::eof;
      return 0;
    }
    if (!would_block(errno)) {
      ec = errno_code(errno);
      return 0;
    }
    if (!may_wait(receive_queue(flags), flags, ec))
      return 0;
  }
}

std::size_t socket_handle::send(const message_header& header, int flags,
                                error_code& ec) const noexcept {
  ec = error_code();
  const int how = flags | MSG_NOSIGNAL | (non_blocking() ? MSG_DONTWAIT : 0);
  const bool plain = header.count == 1 && !header.name && !header.control;
  for (;;) {
    const ssize_t n = retry_interrupted([&] {
      return plain ? ::send(native_handle(), header.vectors->base, header.vectors->size, how)
                   : ::sendmsg(native_handle(), reinterpret_cast<const msghdr*>(&header), how);
    });
    if (n >= 0)
      return static_cast<std::size_t>(n);
    if (!would_block(errno)) {
      ec = errno_code(errno);
      return 0;
    }
    if (!may_block(flags, ec))
      return 0;
    if (full_elsewhere(native_handle(), header.name))
      pause();
    else if (!poll_descriptor(native_handle(), POLLOUT, no_limit, ec))
      return 0;
  }
}

std::size_t socket_handle::receive_batch(const incoming_batch& batch,
                                         error_code& ec) const noexcept {
  std::size_t count = 0;
  ec = is_open() ? error_code() : error_code(error::bad_descriptor);
  const int flags = non_blocking() ? MSG_DONTWAIT : MSG_WAITFORONE;
  while (!ec &&
         detail::receive_batch(native_handle(), batch, flags, count, ec) == io_status::again &&
         may_wait(io_queue::read, 0, ec)) {}
  return count;
}

std::size_t socket_handle::send_batch(outgoing_batch batch, error_code& ec) const noexcept {
  std::size_t sent = 0;
  ec = is_open() ? error_code() : error_code(error::bad_descriptor);
  const int flags = non_blocking() ? MSG_DONTWAIT : 0;
  while (!ec && sent != batch.count) {
    const io_status status = detail::send_batch(native_handle(), batch, flags, sent, ec);
    if (status == io_status::again)
      may_wait(io_queue::write, 0, ec);
    else if (status == io_status::later && may_block(0, ec))
      pause();
  }
  return sent;
}

}  // namespace WEFT_NAMESPACE::detail
