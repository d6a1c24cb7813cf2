// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>

struct sockaddr;

namespace WEFT_NAMESPACE::detail {

/// Accepts a connection: accept4(2), or IORING_OP_ACCEPT (Linux 5.5). The new descriptor is
/// close-on-exec, and closed with the operation if nobody has taken it.
class WEFT_API accept_operation : public io_operation {
 public:
  sockaddr* address = nullptr;         ///< Where the peer's address goes; may be null.
  std::uint32_t address_capacity = 0;  ///< In bytes.
  std::uint32_t address_size = 0;      ///< In bytes, of the peer's address.
  int accepted = -1;
  bool report_aborted = false;  ///< Connections the peer gave up are reported, not skipped.

 protected:
  accept_operation(function f, scheduler& owner, bool report) noexcept
      : io_operation(f, owner, accept_kind, io_queue::read), report_aborted(report) {}
  accept_operation(function f, scheduler& owner, bool report, const io_kind& kind) noexcept
      : io_operation(f, owner, kind, io_queue::read), report_aborted(report) {}
  ~accept_operation();

  int take_descriptor() noexcept { return std::exchange(accepted, -1); }

  static const io_kind accept_kind;
};

/// How operations hand a descriptor fresh from the system to a socket class, and reach its handle.
struct socket_access {
  template <class Socket, class Protocol>
  static error_code adopt(Socket& socket, const Protocol& protocol, int fd) noexcept {
    return socket.adopt(protocol, fd);
  }
  template <class Socket, class From>
  static error_code take(Socket& socket, From& from) noexcept {
    return socket.take(from);
  }
  template <class Socket>
  static auto& handle(Socket& socket) noexcept {
    return socket.handle_;
  }
  template <class Socket>
  static const auto& protocol(const Socket& socket) noexcept {
    return socket.protocol_;
  }
};

/// Accepts into a socket that the caller has made. Results: (error_code).
template <class Socket, class Endpoint>
class accept_into_operation : public accept_operation {
 public:
  accept_into_operation(operation::function f, scheduler& owner, bool report, Socket& peer,
                        const typename Endpoint::protocol_type& protocol,
                        Endpoint* peer_endpoint) noexcept
      : accept_operation(f, owner, report),
        peer_(&peer),
        protocol_(protocol),
        peer_endpoint_(peer_endpoint) {
    if (peer_endpoint) {
      address = endpoint_.data();
      address_capacity = static_cast<std::uint32_t>(endpoint_.capacity());
    }
  }

  operation_results<error_code> take_results() {
    if (!ec)
      ec = socket_access::adopt(*peer_, protocol_, accepted);
    if (!ec) {
      take_descriptor();
      if (peer_endpoint_) {
        endpoint_.resize(address_size);
        *peer_endpoint_ = endpoint_;
      }
    }
    return {ec};
  }

 private:
  Socket* peer_;
  typename Endpoint::protocol_type protocol_;
  Endpoint* peer_endpoint_;
  Endpoint endpoint_;
};

/// Accepts, and makes a socket with an executor of the caller's. Results: (error_code, Socket).
template <class Socket, class Endpoint>
class accept_new_operation : public accept_operation {
 public:
  accept_new_operation(operation::function f, scheduler& owner, bool report,
                       const typename Socket::executor_type& executor,
                       const typename Endpoint::protocol_type& protocol, Endpoint* peer_endpoint)
      : accept_operation(f, owner, report),
        socket_(executor),
        protocol_(protocol),
        peer_endpoint_(peer_endpoint) {
    if (peer_endpoint) {
      address = endpoint_.data();
      address_capacity = static_cast<std::uint32_t>(endpoint_.capacity());
    }
  }

  operation_results<error_code, Socket> take_results() {
    if (!ec)
      ec = socket_access::adopt(socket_, protocol_, accepted);
    if (!ec) {
      take_descriptor();
      if (peer_endpoint_) {
        endpoint_.resize(address_size);
        *peer_endpoint_ = endpoint_;
      }
    }
    return {ec, std::move(socket_)};
  }

 private:
  Socket socket_;
  typename Endpoint::protocol_type protocol_;
  Endpoint* peer_endpoint_;
  Endpoint endpoint_;
};

}  // namespace WEFT_NAMESPACE::detail
