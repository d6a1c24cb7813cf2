// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include <weft/base/error_code.hpp>
#include <weft/net/address_v4.hpp>

namespace WEFT_NAMESPACE::ip {

/// Identifies the zone (on Linux: the index of a network interface) of an IPv6 address; 0 is none.
using scope_id_type = std::uint_least32_t;

/// Selects the overloads that deal in IPv4-mapped IPv6 addresses (::ffff:a.b.c.d).
enum v4_mapped_t { v4_mapped };

/// An IPv6 address with its scope id (RFC 4007).
///
/// Everything except the conversions from and to text is constexpr. Distinct objects may be used
/// from different threads.
///
///     auto a = ip::make_address_v6("fe80::1%eth0");
///     assert(a.is_link_local() && a.scope_id() != 0);
class address_v6 {
 public:
  /// The address as bytes in network byte order.
  using bytes_type = std::array<unsigned char, 16>;

  /// The unspecified address "::", without a scope.
  constexpr address_v6() noexcept = default;
  constexpr explicit address_v6(const bytes_type& bytes, scope_id_type scope_id = 0) noexcept
      : bytes_(bytes), scope_id_(scope_id) {}

  constexpr scope_id_type scope_id() const noexcept { return scope_id_; }
  constexpr void scope_id(scope_id_type id) noexcept { scope_id_ = id; }

  constexpr bytes_type to_bytes() const noexcept { return bytes_; }
  /// Hexadecimal notation with the longest run of zeros as "::" (inet_ntop(3)). A scope id other
  /// than 0 follows after '%': the name of the interface if the address is link-local and the
  /// interface exists, else the number.
  WEFT_API std::string to_string() const;

  /// Is ::1.
  constexpr bool is_loopback() const noexcept { return bytes_ == loopback().bytes_; }
  /// Is "::".
  constexpr bool is_unspecified() const noexcept { return bytes_ == bytes_type{}; }
  /// In fe80::/10.
  constexpr bool is_link_local() const noexcept {
    return bytes_[0] == 0xFE && (bytes_[1] & 0xC0) == 0x80;
  }
  /// In fec0::/10 (deprecated by RFC 3879).
  constexpr bool is_site_local() const noexcept {
    return bytes_[0] == 0xFE && (bytes_[1] & 0xC0) == 0xC0;
  }
  /// In ::ffff:0:0/96.
  constexpr bool is_v4_mapped() const noexcept {
    for (std::size_t i = 0; i < 10; ++i)
      if (bytes_[i] != 0)
        return false;
    return bytes_[10] == 0xFF && bytes_[11] == 0xFF;
  }
  /// In ff00::/8. The others below tell the multicast scopes of RFC 4291, section 2.7, apart.
  constexpr bool is_multicast() const noexcept { return bytes_[0] == 0xFF; }
  constexpr bool is_multicast_node_local() const noexcept { return is_multicast_in_scope(0x1); }
  constexpr bool is_multicast_link_local() const noexcept { return is_multicast_in_scope(0x2); }
  constexpr bool is_multicast_site_local() const noexcept { return is_multicast_in_scope(0x5); }
  constexpr bool is_multicast_org_local() const noexcept { return is_multicast_in_scope(0x8); }
  constexpr bool is_multicast_global() const noexcept { return is_multicast_in_scope(0xE); }

  friend constexpr bool operator==(const address_v6&, const address_v6&) noexcept = default;
  /// By the bytes, then by the scope id.
  friend constexpr auto operator<=>(const address_v6&, const address_v6&) noexcept = default;

  /// "::": to bind to every local address.
  static constexpr address_v6 any() noexcept { return address_v6(); }
  /// ::1
  static constexpr address_v6 loopback() noexcept {
    address_v6 address;
    address.bytes_[15] = 1;
    return address;
  }

 private:
  constexpr bool is_multicast_in_scope(unsigned char scope) const noexcept {
    return is_multicast() && (bytes_[1] & 0x0F) == scope;
  }

  bytes_type bytes_{};
  scope_id_type scope_id_ = 0;
};

constexpr address_v6 make_address_v6(const address_v6::bytes_type& bytes,
                                     scope_id_type scope_id = 0) noexcept {
  return address_v6(bytes, scope_id);
}

/// Parses hexadecimal notation (RFC 4291, section 2.2), optionally followed by '%' and a scope: a
/// decimal number below 2^32 or the name of a network interface.
/// Errors: invalid_argument if the text is no such address, no_such_device if no interface has
/// the name given as scope. Then the address returned is unspecified; the form without an
/// error_code throws system_error.
WEFT_API address_v6 make_address_v6(std::string_view text, error_code& ec) noexcept;
WEFT_API address_v6 make_address_v6(std::string_view text);

/// The IPv6 address ::ffff:a.b.c.d that stands for an IPv4 address.
constexpr address_v6 make_address_v6(v4_mapped_t, const address_v4& address) noexcept {
  const address_v4::bytes_type v4 = address.to_bytes();
  return address_v6(
      address_v6::bytes_type{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, v4[0], v4[1], v4[2], v4[3]});
}

/// The IPv4 address within an IPv4-mapped IPv6 address; throws bad_address_cast if it is not one.
WEFT_API address_v4 make_address_v4(v4_mapped_t, const address_v6& address);

template <class Elem, class Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                             const address_v6& address) {
  return os << address.to_string().c_str();
}

}  // namespace WEFT_NAMESPACE::ip

template <>
struct std::hash<WEFT_NAMESPACE::ip::address_v6> {
  std::size_t operator()(const WEFT_NAMESPACE::ip::address_v6& address) const noexcept {
    const auto bytes = address.to_bytes();
    const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return std::hash<std::string_view>()(view) ^ (std::size_t{address.scope_id()} << 7);
  }
};
