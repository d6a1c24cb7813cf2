// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/ip_endpoint.hpp>

namespace WEFT_NAMESPACE::ip {

/// UDP over IPv4 or IPv6, and the types of its sockets. The header of a type has to be included to
/// use it; <weft/net/udp.hpp> brings all of them.
class udp {
 public:
  using endpoint = basic_endpoint<udp>;
  using socket = basic_datagram_socket<udp>;
  using resolver = basic_resolver<udp>;

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
