// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/message_socket.hpp>

namespace WEFT_NAMESPACE {

/// Packets of a protocol below TCP and UDP, as of ip::icmp; opening one needs CAP_NET_RAW. With
/// IPv4, what is received begins with the IP header (raw(7)). What all sockets can do, and the
/// rules on order, cancellation and thread safety, stand at basic_socket; the calls at
/// message_socket.
///
///     ip::icmp::socket socket(context, ip::icmp::v4());
///     socket.send_to(buffer(echo_request), destination);
template <class Protocol, class Executor>
class basic_raw_socket : public detail::message_socket<Protocol, Executor> {
  using base = detail::message_socket<Protocol, Executor>;

 public:
  template <class Executor1>
  struct rebind_executor {
    using other = basic_raw_socket<Protocol, Executor1>;
  };

  /// Constructors and assignment: as basic_socket.
  using base::base;
  basic_raw_socket(basic_raw_socket&&) noexcept = default;
  basic_raw_socket& operator=(basic_raw_socket&&) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_raw_socket<Protocol1, Executor1>, basic_raw_socket>)
  basic_raw_socket& operator=(basic_raw_socket<Protocol1, Executor1>&& other) {
    basic_socket<Protocol, Executor>::operator=(std::move(other));
    return *this;
  }
  ~basic_raw_socket() = default;
};

}  // namespace WEFT_NAMESPACE
