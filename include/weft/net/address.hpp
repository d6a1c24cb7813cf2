// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include <weft/base/error_code.hpp>
#include <weft/net/address_v4.hpp>
#include <weft/net/address_v6.hpp>
#include <weft/net/bad_address_cast.hpp>

namespace WEFT_NAMESPACE::ip {

/// An IP address of either version.
///
/// A trivially copyable value that allocates nothing. Distinct objects may be used from different
/// threads.
///
///     ip::address a = ip::make_address("::1");
///     assert(a.is_v6() && a.is_loopback());
class address {
 public:
  /// The unspecified IPv4 address.
  constexpr address() noexcept = default;
  constexpr address(const address_v4& v4) noexcept : v4_(v4) {}
  constexpr address(const address_v6& v6) noexcept : is_v6_(true), v6_(v6) {}

  constexpr bool is_v4() const noexcept { return !is_v6_; }
  constexpr bool is_v6() const noexcept { return is_v6_; }

  /// The address in its own version; throws bad_address_cast if it is of the other. An
  /// IPv4-mapped IPv6 address is IPv6: see make_address_v4(v4_mapped, ...).
  constexpr address_v4 to_v4() const {
    if (is_v6_)
      throw_bad_cast();
    return v4_;
  }
  constexpr address_v6 to_v6() const {
    if (!is_v6_)
      throw_bad_cast();
    return v6_;
  }

  std::string to_string() const { return is_v6_ ? v6_.to_string() : v4_.to_string(); }

  constexpr bool is_loopback() const noexcept {
    return is_v6_ ? v6_.is_loopback() : v4_.is_loopback();
  }
  constexpr bool is_unspecified() const noexcept {
    return is_v6_ ? v6_.is_unspecified() : v4_.is_unspecified();
  }
  constexpr bool is_multicast() const noexcept {
    return is_v6_ ? v6_.is_multicast() : v4_.is_multicast();
  }

  friend constexpr bool operator==(const address&, const address&) noexcept = default;
  /// IPv4 before IPv6, then as the version orders.
  friend constexpr auto operator<=>(const address&, const address&) noexcept = default;

 private:
  [[noreturn]] WEFT_API static void throw_bad_cast();

  // The address of the version that is not held is all zeros, so that memberwise comparison is
  // right.
  bool is_v6_ = false;
  address_v4 v4_;
  address_v6 v6_;
};

/// Parses an address of either version, as make_address_v4 and make_address_v6 do: text with a
/// colon is IPv6. Errors as theirs; the form without an error_code throws system_error.
WEFT_API address make_address(std::string_view text, error_code& ec) noexcept;
WEFT_API address make_address(std::string_view text);

template <class Elem, class Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                             const address& address) {
  return os << address.to_string().c_str();
}

}  // namespace WEFT_NAMESPACE::ip

template <>
struct std::hash<WEFT_NAMESPACE::ip::address> {
  std::size_t operator()(const WEFT_NAMESPACE::ip::address& address) const noexcept {
    return address.is_v4() ? std::hash<WEFT_NAMESPACE::ip::address_v4>()(address.to_v4())
                           : std::hash<WEFT_NAMESPACE::ip::address_v6>()(address.to_v6());
  }
};
