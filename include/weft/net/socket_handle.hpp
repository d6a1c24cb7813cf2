// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/error_code.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/op/datagram_batch.hpp>
#include <weft/io/op/message_header.hpp>
#include <weft/io/op/receive.hpp>

struct sockaddr;

namespace WEFT_NAMESPACE::detail {

/// The descriptor of a socket and the calls on it: the part of all socket classes that is neither
/// template nor protocol. Calls on a closed socket fail with bad_descriptor.
///
/// Blocking: the system calls never block while an operation of the library needs them not to. So
/// that `receive` and the like block nonetheless, as long as the user has not set non_blocking,
/// they wait by poll(2). connect and accept have no "do not block" flag; the descriptor is put into
/// non-blocking mode when the first asynchronous one is started, and stays so until released;
/// after a fork, of which the context was notified, for good.
class WEFT_API socket_handle : public io_handle {
 public:
  using io_handle::io_handle;

  /// socket(2), close-on-exec. Fails with already_open.
  error_code open(int family, int type, int protocol) noexcept;

  /// Takes over a descriptor. Fails with not_socket, or EPROTOTYPE if its type is another.
  error_code assign(int type, int fd) noexcept;

  /// Takes over a descriptor that is known to be a socket fresh from the system.
  error_code adopt(int fd) noexcept { return io_handle::assign(fd); }

  /// As io_handle::release; blocking mode is as the user had it, but after a fork left as it is.
  int release(error_code& ec) noexcept;

  error_code bind(const sockaddr* address, std::size_t size) const noexcept;
  error_code listen(int backlog) const noexcept;
  error_code shutdown(int what) const noexcept;
  error_code local_endpoint(sockaddr* address, std::size_t& size) const noexcept;
  error_code remote_endpoint(sockaddr* address, std::size_t& size) const noexcept;

  error_code set_option(int level, int name, const void* data, std::size_t size) noexcept;
  error_code get_option(int level, int name, void* data, std::size_t& size) const noexcept;
  error_code io_control(unsigned long command, void* data) const noexcept;
  std::size_t available(error_code& ec) const noexcept;
  /// SO_ERROR: the pending error, which is cleared.
  error_code take_error() const noexcept;
  bool at_mark(error_code& ec) const noexcept;

  bool non_blocking() const noexcept { return (flags() & user_non_blocking) != 0; }
  error_code non_blocking(bool mode) noexcept;
  bool native_non_blocking() const noexcept { return (flags() & native_flags) != 0; }
  error_code native_non_blocking(bool mode) noexcept;
  /// Lets connect and accept be performed asynchronously.
  error_code make_asynchronous() noexcept;
  /// Whether the socket can send without copying: SO_ZEROCOPY, set once.
  bool enable_zero_copy() noexcept;
  /// What a batch may do with UDP_SEGMENT; asked for once.
  segmentation segments() noexcept;
  bool reports_aborted_connections() const noexcept { return (flags() & report_aborted) != 0; }

  // ---- calls that block unless the user has set non_blocking; then would_block

  error_code connect(const sockaddr* address, std::size_t size) noexcept;
  /// The new descriptor, or -1. `size`: in bytes, the capacity, then the size of the address.
  int accept(sockaddr* address, std::size_t* size, error_code& ec) const noexcept;
  error_code wait(io_queue what) const noexcept;
  std::size_t receive(message_header& header, int flags, receive_mode mode,
                      error_code& ec) const noexcept;
  std::size_t send(const message_header& header, int flags, error_code& ec) const noexcept;
  std::size_t receive_batch(const incoming_batch& batch, error_code& ec) const noexcept;
  std::size_t send_batch(outgoing_batch batch, error_code& ec) const noexcept;

 private:
  enum flag : unsigned {
    user_non_blocking = 1,
    native_by_user = 2,     // O_NONBLOCK, as the user set it or handed it in
    native_by_library = 4,  // O_NONBLOCK, for asynchronous operations
    report_aborted = 8,
    zero_copy_enabled = 16,
    native_for_user = 32,  // O_NONBLOCK, for as long as user_non_blocking
    segments_asked = 64,
    segments_on_demand = 128,  // UDP_SEGMENT is there
    segments_automatic = 256,  // and not set
    native_borrowed = native_by_library | native_for_user,
    native_flags = native_by_user | native_borrowed,
  };

  error_code set_native(bool mode) const noexcept;
  bool may_block(int flags, error_code& ec) const noexcept;
  bool may_wait(io_queue what, int flags, error_code& ec) const noexcept;
};

/// Closes a descriptor that belongs to no handle.
WEFT_API void close_descriptor(int fd) noexcept;

/// socketpair(2), both close-on-exec.
WEFT_API error_code make_socket_pair(int family, int type, int protocol, int (&fds)[2]) noexcept;

}  // namespace WEFT_NAMESPACE::detail
