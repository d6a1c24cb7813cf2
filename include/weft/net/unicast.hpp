// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/ip_socket_option.hpp>

namespace WEFT_NAMESPACE::ip::unicast {

/// IP_TTL or IPV6_UNICAST_HOPS: how many routers an outgoing packet may pass, 1 to 255 (-1 for
/// the system's default).
///
///     socket.set_option(ip::unicast::hops(4));
using hops = detail::ip_option<int, detail::os::ip_ttl, detail::os::ipv6_unicast_hops>;

}  // namespace WEFT_NAMESPACE::ip::unicast
