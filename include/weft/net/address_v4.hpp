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

namespace WEFT_NAMESPACE::ip {

/// An IPv4 address.
///
/// A value of four bytes; everything except the conversions from and to text is constexpr.
/// Distinct objects may be used from different threads.
///
///     auto a = ip::make_address_v4("192.168.1.10");
///     assert(a.to_uint() == 0xC0A8010A && !a.is_loopback());
class address_v4 {
 public:
  /// The address as a number in host byte order.
  using uint_type = std::uint_least32_t;
  /// The address as bytes in network byte order.
  using bytes_type = std::array<unsigned char, 4>;

  /// The unspecified address 0.0.0.0.
  constexpr address_v4() noexcept = default;
  constexpr explicit address_v4(const bytes_type& bytes) noexcept
      : value_(uint_type{bytes[0]} << 24 | uint_type{bytes[1]} << 16 | uint_type{bytes[2]} << 8 |
               uint_type{bytes[3]}) {}
  constexpr explicit address_v4(uint_type value) noexcept : value_(value) {}

  constexpr bytes_type to_bytes() const noexcept {
    return {static_cast<unsigned char>(value_ >> 24), static_cast<unsigned char>(value_ >> 16),
            static_cast<unsigned char>(value_ >> 8), static_cast<unsigned char>(value_)};
  }
  constexpr uint_type to_uint() const noexcept { return value_; }
  /// Dotted decimal: "127.0.0.1".
  WEFT_API std::string to_string() const;

  /// In 127.0.0.0/8 (RFC 1122).
  constexpr bool is_loopback() const noexcept { return (value_ & 0xFF000000) == 0x7F000000; }
  /// Is 0.0.0.0.
  constexpr bool is_unspecified() const noexcept { return value_ == 0; }
  /// In 224.0.0.0/4 (RFC 1112).
  constexpr bool is_multicast() const noexcept { return (value_ & 0xF0000000) == 0xE0000000; }

  friend constexpr bool operator==(const address_v4&, const address_v4&) noexcept = default;
  /// By the value in host byte order.
  friend constexpr auto operator<=>(const address_v4&, const address_v4&) noexcept = default;

  /// 0.0.0.0: to bind to every local address.
  static constexpr address_v4 any() noexcept { return address_v4(); }
  /// 127.0.0.1
  static constexpr address_v4 loopback() noexcept { return address_v4(uint_type{0x7F000001}); }
  /// 255.255.255.255
  static constexpr address_v4 broadcast() noexcept { return address_v4(uint_type{0xFFFFFFFF}); }

 private:
  uint_type value_ = 0;
};

constexpr address_v4 make_address_v4(const address_v4::bytes_type& bytes) noexcept {
  return address_v4(bytes);
}
constexpr address_v4 make_address_v4(address_v4::uint_type value) noexcept {
  return address_v4(value);
}

/// Parses dotted decimal: four numbers 0-255, without leading zeros (inet_pton(3)). Anything else
/// is error::invalid_argument, and the address returned is unspecified. The form without an
/// error_code throws system_error.
WEFT_API address_v4 make_address_v4(std::string_view text, error_code& ec) noexcept;
WEFT_API address_v4 make_address_v4(std::string_view text);

template <class Elem, class Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                             const address_v4& address) {
  return os << address.to_string().c_str();
}

}  // namespace WEFT_NAMESPACE::ip

template <>
struct std::hash<WEFT_NAMESPACE::ip::address_v4> {
  std::size_t operator()(const WEFT_NAMESPACE::ip::address_v4& address) const noexcept {
    return std::hash<WEFT_NAMESPACE::ip::address_v4::uint_type>()(address.to_uint());
  }
};
