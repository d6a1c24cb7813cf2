// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/ip_endpoint.hpp>
#include <weft/net/socket_option.hpp>

namespace WEFT_NAMESPACE::ip {

/// UDP over IPv4 or IPv6, and the types of its sockets. The header of a type has to be included to
/// use it; <weft/net/udp.hpp> brings all of them.
class udp {
 public:
  using endpoint = basic_endpoint<udp>;
  using socket = basic_datagram_socket<udp>;
  using resolver = basic_resolver<udp>;

  /// UDP_SEGMENT, in bytes: what is sent in one call is made into datagrams of this size, of which
  /// the last may be shorter; 0 for none. At most 64 of them, and none larger than the link takes.
  /// Linux 4.18. (A batch can ask for it datagram by datagram.)
  using segment_size = socket_option::integer<detail::os::ipproto_udp, detail::os::udp_segment>;
  /// UDP_GRO: datagrams of one size that come from one sender one after another may be received as
  /// one, of at most 65535 bytes; `receive_batch` tells the size of each. To be set only on sockets
  /// that are received from so, with buffers to match. Linux 5.0.
  using generic_receive_offload =
      socket_option::boolean<detail::os::ipproto_udp, detail::os::udp_gro>;

  static constexpr udp v4() noexcept { return udp(detail::os::af_inet); }
  static constexpr udp v6() noexcept { return udp(detail::os::af_inet6); }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_dgram; }
  constexpr int protocol() const noexcept { return detail::os::ipproto_udp; }

  friend constexpr bool operator==(const udp&, const udp&) noexcept = default;

 private:
  constexpr explicit udp(int family) noexcept : family_(family) {}

  int family_;
};

}  // namespace WEFT_NAMESPACE::ip
