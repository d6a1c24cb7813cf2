// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/address_families.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

namespace WEFT_NAMESPACE::detail {

address_families configured_families() noexcept {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0)
    return {true, true};
  address_families found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr)
      continue;
    if (entry->ifa_addr->sa_family == AF_INET) {
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
      if (ntohl(v4->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
        found.v4 = true;
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      if (!IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr))
        found.v6 = true;
    }
  }
  ::freeifaddrs(list);
  return found;
}

}  // namespace WEFT_NAMESPACE::detail
