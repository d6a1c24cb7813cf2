// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/message_socket.hpp>

namespace WEFT_NAMESPACE {

/// Messages without a connection, as of ip::udp or local::datagram_protocol: each arrives whole or
/// not at all. What all sockets can do, and the rules on order, cancellation and thread safety,
/// stand at basic_socket; the calls at message_socket. A connected one may use `send` and `receive`
/// without addresses, and hears from its peer only.
///
///     ip::udp::socket socket(context, ip::udp::endpoint(ip::udp::v4(), 7));
///     socket.async_receive_from(buffer(data), sender, [](error_code ec, std::size_t n) { ... });
template <class Protocol, class Executor>
class basic_datagram_socket : public detail::message_socket<Protocol, Executor> {
  using base = detail::message_socket<Protocol, Executor>;

 public:
  template <class Executor1>
  struct rebind_executor {
    using other = basic_datagram_socket<Protocol, Executor1>;
  };

  /// Constructors and assignment: as basic_socket.
  using base::base;
  basic_datagram_socket(basic_datagram_socket&&) noexcept = default;
  basic_datagram_socket& operator=(basic_datagram_socket&&) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_datagram_socket<Protocol1, Executor1>, basic_datagram_socket>)
  basic_datagram_socket& operator=(basic_datagram_socket<Protocol1, Executor1>&& other) {
    basic_socket<Protocol, Executor>::operator=(std::move(other));
    return *this;
  }
  ~basic_datagram_socket() = default;
};

}  // namespace WEFT_NAMESPACE
