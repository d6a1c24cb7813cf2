// SPDX-License-Identifier: BSL-1.0
// An IPv6 range has no size, protocols do not mix, numbers do not become addresses by accident, and
// a resolver's handler takes what was found.
// bad 1: no matching (member )?function|no member named|constraints not satisfied
// bad 2: could not convert|no viable conversion|conversion from
// bad 3: could not convert|no viable conversion|conversion from
// bad 4: no match(ing)?.{0,40}operator|invalid operands
// bad 5: no matching (member )?function|constraints not satisfied
#include <weft/context/io_context.hpp>
#include <weft/net/address_range.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>

#ifndef WEFT_BAD
#define WEFT_BAD 0
#endif

namespace ip = weft::ip;

int main() {
  weft::io_context context;
  ip::tcp::resolver resolver(context);
  resolver.async_resolve("localhost", "80",
                         [](weft::error_code, ip::tcp::resolver::results_type) {});
  const ip::tcp::endpoint endpoint(ip::address_v4(0x7F000001), 80);
  bool same = endpoint == ip::tcp::endpoint() && ip::address_v4_range().size() == 0;

#if WEFT_BAD == 1
  ip::address_v6_range().size();
#elif WEFT_BAD == 2
  ip::udp::endpoint other = endpoint;
#elif WEFT_BAD == 3
  ip::address_v4 address = 0x7F000001u;
#elif WEFT_BAD == 4
  same = endpoint == ip::udp::endpoint();
#elif WEFT_BAD == 5
  resolver.async_resolve("localhost", "80", [](weft::error_code, int) {});
#endif
  return same ? 1 : 0;
}
