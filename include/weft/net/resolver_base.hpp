// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::ip {

/// The flags of name resolution, as members of every resolver (RFC 3493, section 6.1).
///
///     resolver.async_resolve("", "8080", resolver.passive | resolver.numeric_service, ...);
class resolver_base {
 public:
  /// A bitmask: combine with | & ^ ~.
  enum flags : unsigned {};

  /// The host name of each result is the canonical one, at the end of all aliases.
  static constexpr flags canonical_name{1};
  /// An empty host means every local address, to listen on, instead of the loopback address.
  static constexpr flags passive{2};
  /// The host is a numeric address: names are host_not_found, nothing is looked up.
  static constexpr flags numeric_host{4};
  /// The service is a port number: names are host_not_found, nothing is looked up.
  static constexpr flags numeric_service{8};
  /// If IPv6 is asked for and the host has none, its IPv4 addresses are mapped into IPv6.
  static constexpr flags v4_mapped{16};
  /// With v4_mapped: the mapped IPv4 addresses come after the IPv6 addresses.
  static constexpr flags all_matching{32};
  /// A version of which this system has no address but the loopback one is not asked for. Numeric
  /// hosts are resolved all the same, and so is everything if neither version has an address.
  static constexpr flags address_configured{64};

  friend constexpr flags operator|(flags a, flags b) noexcept {
    return static_cast<flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
  }
  friend constexpr flags operator&(flags a, flags b) noexcept {
    return static_cast<flags>(static_cast<unsigned>(a) & static_cast<unsigned>(b));
  }
  friend constexpr flags operator^(flags a, flags b) noexcept {
    return static_cast<flags>(static_cast<unsigned>(a) ^ static_cast<unsigned>(b));
  }
  friend constexpr flags operator~(flags a) noexcept {
    return static_cast<flags>(~static_cast<unsigned>(a));
  }
  friend constexpr flags& operator|=(flags& a, flags b) noexcept { return a = a | b; }
  friend constexpr flags& operator&=(flags& a, flags b) noexcept { return a = a & b; }
  friend constexpr flags& operator^=(flags& a, flags b) noexcept { return a = a ^ b; }

 protected:
  ~resolver_base() = default;
};

}  // namespace WEFT_NAMESPACE::ip
