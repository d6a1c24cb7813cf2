// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/socket_constants.hpp>
#include <weft/net/socket_option.hpp>

namespace WEFT_NAMESPACE::ip {

/// IPV6_V6ONLY: an IPv6 socket does not serve IPv4 as well. To be set before the socket is bound.
///
///     acceptor.set_option(ip::v6_only(true));
using v6_only = socket_option::boolean<detail::os::ipproto_ipv6, detail::os::ipv6_v6only>;

}  // namespace WEFT_NAMESPACE::ip
