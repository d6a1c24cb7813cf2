// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/ip_endpoint.hpp>

namespace WEFT_NAMESPACE::ip {

/// ICMP and ICMPv6 on raw sockets, which need CAP_NET_RAW. The header of a type has to be included
/// to use it; <weft/net/icmp.hpp> brings all of them.
class icmp {
 public:
  using endpoint = basic_endpoint<icmp>;
  using socket = basic_raw_socket<icmp>;
  using resolver = basic_resolver<icmp>;

  static constexpr icmp v4() noexcept { return icmp(detail::os::af_inet); }
  static constexpr icmp v6() noexcept { return icmp(detail::os::af_inet6); }

  /// The arguments of socket(2).
  constexpr int family() const noexcept { return family_; }
  constexpr int type() const noexcept { return detail::os::sock_raw; }
  constexpr int protocol() const noexcept {
    return family_ == detail::os::af_inet ? detail::os::ipproto_icmp : detail::os::ipproto_icmpv6;
  }

  friend constexpr bool operator==(const icmp&, const icmp&) noexcept = default;

 private:
  constexpr explicit icmp(int family) noexcept : family_(family) {}

  int family_;
};

}  // namespace WEFT_NAMESPACE::ip
