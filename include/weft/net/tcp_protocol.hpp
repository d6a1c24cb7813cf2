// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/ip_endpoint.hpp>
#include <weft/net/socket_option.hpp>

namespace WEFT_NAMESPACE::ip {

/// TCP over IPv4 or IPv6, and the types of its sockets. The header of a type has to be included to
/// use it; <weft/net/tcp.hpp> brings all of them.
///
///     ip::tcp::endpoint everywhere(ip::tcp::v6(), 8080);
class tcp {
 public:
  using endpoint = basic_endpoint<tcp>;
  using socket = basic_stream_socket<tcp>;
  using acceptor = basic_socket_acceptor<tcp>;
  using resolver = basic_resolver<tcp>;
  using iostream = basic_socket_iostream<tcp>;

  /// TCP_NODELAY: send small segments at once instead of gathering them (Nagle's algorithm).
  using no_delay = socket_option::boolean<detail::os::ipproto_tcp, detail::os::tcp_nodelay>;
  /// TCP_CORK: send full segments only, for at most 200 ms, until it is unset again.
  using cork = socket_option::boolean<detail::os::ipproto_tcp, detail::os::tcp_cork>;
  /// TCP_QUICKACK: acknowledge at once. Not lasting: the kernel may leave the mode by itself.
  using quick_ack = socket_option::boolean<detail::os::ipproto_tcp, detail::os::tcp_quickack>;
  /// TCP_KEEPIDLE: seconds of silence before the first keep-alive probe (keep_alive has to be set).
  using keep_alive_idle = socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_keepidle>;
  /// TCP_KEEPINTVL: seconds between probes.
  using keep_alive_interval =
      socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_keepintvl>;
  /// TCP_KEEPCNT: unanswered probes after which the connection is dropped.
  using keep_alive_count = socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_keepcnt>;
  /// TCP_USER_TIMEOUT: milliseconds that sent data may stay unacknowledged before the connection is
  /// dropped; 0 for the system's default. Linux 2.6.37.
  using user_timeout =
      socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_user_timeout>;
  /// TCP_MAXSEG: the largest segment, in bytes.
  using max_segment_size = socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_maxseg>;
  /// TCP_DEFER_ACCEPT, of acceptors: seconds to wait for the first data before a connection is
  /// accepted without.
  using defer_accept =
      socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_defer_accept>;
  /// TCP_FASTOPEN, of acceptors: length of the queue of Fast Open requests (RFC 7413). Linux 3.7.
  using fast_open = socket_option::integer<detail::os::ipproto_tcp, detail::os::tcp_fastopen>;
  /// TCP_FASTOPEN_CONNECT: connect sends its first data with the SYN. Linux 4.11.
  using fast_open_connect =
      socket_option::boolean<detail::os::ipproto_tcp, detail::os::tcp_fastopen_connect>;

  static constexpr tcp v4() noexcept { return tcp(detail::os::af_inet); }
  static constexpr tcp v6() noexcept { return tcp(detail::os::af_inet6); }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_stream; }
  constexpr int protocol() const noexcept { return detail::os::ipproto_tcp; }

  friend constexpr bool operator==(const tcp&, const tcp&) noexcept = default;

 private:
  constexpr explicit tcp(int family) noexcept : family_(family) {}

  int family_;
};

}  // namespace WEFT_NAMESPACE::ip
