// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/local_endpoint.hpp>

/// UNIX-domain sockets (unix(7)). The header of a socket type has to be included to use it;
/// <weft/net/local.hpp> brings all of them.
namespace WEFT_NAMESPACE::local {

/// Streams of bytes.
class stream_protocol {
 public:
  using endpoint = basic_endpoint<stream_protocol>;
  using socket = basic_stream_socket<stream_protocol>;
  using acceptor = basic_socket_acceptor<stream_protocol>;
  using iostream = basic_socket_iostream<stream_protocol>;

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return detail::os::af_unix; }
  constexpr int type() const noexcept { return detail::os::sock_stream; }
  constexpr int protocol() const noexcept { return 0; }

  friend constexpr bool operator==(const stream_protocol&,
                                   const stream_protocol&) noexcept = default;
};

/// Datagrams, which are reliable and kept in order here.
class datagram_protocol {
 public:
  using endpoint = basic_endpoint<datagram_protocol>;
  using socket = basic_datagram_socket<datagram_protocol>;

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return detail::os::af_unix; }
  constexpr int type() const noexcept { return detail::os::sock_dgram; }
  constexpr int protocol() const noexcept { return 0; }

  friend constexpr bool operator==(const datagram_protocol&,
                                   const datagram_protocol&) noexcept = default;
};

/// Connections that keep the bounds of messages.
class seq_packet_protocol {
 public:
  using endpoint = basic_endpoint<seq_packet_protocol>;
  using socket = basic_seq_packet_socket<seq_packet_protocol>;
  using acceptor = basic_socket_acceptor<seq_packet_protocol>;

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return detail::os::af_unix; }
  constexpr int type() const noexcept { return detail::os::sock_seqpacket; }
  constexpr int protocol() const noexcept { return 0; }

  friend constexpr bool operator==(const seq_packet_protocol&,
                                   const seq_packet_protocol&) noexcept = default;
};

}  // namespace WEFT_NAMESPACE::local
