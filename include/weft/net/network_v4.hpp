// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <iosfwd>
#include <string>
#include <string_view>

#include <weft/base/error_code.hpp>
#include <weft/net/address_range.hpp>
#include <weft/net/address_v4.hpp>

namespace WEFT_NAMESPACE::ip {

/// An IPv4 network: an address and the number of leading bits that name the network (RFC 4632).
/// The host bits of the address are kept; canonical() drops them.
///
///     auto net = ip::make_network_v4("10.1.2.3/8");
///     assert(net.canonical().to_string() == "10.0.0.0/8");
///     assert(net.broadcast().to_string() == "10.255.255.255");
class network_v4 {
 public:
  /// 0.0.0.0/0
  constexpr network_v4() noexcept = default;
  /// Throws std::out_of_range if `prefix_length` is more than 32.
  WEFT_API network_v4(const address_v4& address, unsigned short prefix_length);
  /// Throws std::invalid_argument if the one bits of `mask` are not all leading.
  WEFT_API network_v4(const address_v4& address, const address_v4& mask);

  constexpr address_v4 address() const noexcept { return address_; }
  constexpr unsigned short prefix_length() const noexcept { return prefix_length_; }

  constexpr address_v4 netmask() const noexcept {
    const address_v4::uint_type ones = 0xFFFFFFFF;
    return address_v4(prefix_length_ == 0 ? 0 : ones << (32 - prefix_length_));
  }
  /// The address with the host bits cleared.
  constexpr address_v4 network() const noexcept {
    return address_v4(address_.to_uint() & netmask().to_uint());
  }
  /// The address with the host bits set.
  constexpr address_v4 broadcast() const noexcept {
    return address_v4(address_.to_uint() | ~netmask().to_uint());
  }
  /// The addresses that hosts may have: all of the network without the network address and the
  /// broadcast address; both of a /31 (RFC 3021), the one of a /32.
  constexpr address_v4_range hosts() const noexcept {
    if (prefix_length_ >= 31)
      return {network(), ++address_v4_iterator(broadcast())};
    return {++address_v4_iterator(network()), broadcast()};
  }

  /// The same network without host bits.
  network_v4 canonical() const noexcept { return {network(), prefix_length_}; }
  /// Whether the network is a single address (a /32).
  constexpr bool is_host() const noexcept { return prefix_length_ == 32; }
  /// Whether this network lies within `other` and is smaller.
  bool is_subnet_of(const network_v4& other) const noexcept {
    return other.prefix_length_ < prefix_length_ &&
           network_v4(address_, other.prefix_length_).network() == other.network();
  }

  /// "address/prefix length", host bits included. The second form never fails: `ec` is cleared.
  WEFT_API std::string to_string() const;
  std::string to_string(error_code& ec) const {
    ec.clear();
    return to_string();
  }

  /// Equal are networks of equal address and prefix length; host bits count.
  friend constexpr bool operator==(const network_v4&, const network_v4&) noexcept = default;

 private:
  address_v4 address_;
  unsigned short prefix_length_ = 0;
};

/// As the constructors of network_v4, which say what is thrown.
inline network_v4 make_network_v4(const address_v4& address, unsigned short prefix_length) {
  return {address, prefix_length};
}
inline network_v4 make_network_v4(const address_v4& address, const address_v4& mask) {
  return {address, mask};
}

/// Parses "address/prefix length", as in "10.0.0.0/8". Anything else is error::invalid_argument
/// and 0.0.0.0/0 is returned; the form without an error_code throws system_error.
WEFT_API network_v4 make_network_v4(std::string_view text, error_code& ec) noexcept;
WEFT_API network_v4 make_network_v4(std::string_view text);

template <class Elem, class Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                             const network_v4& network) {
  return os << network.to_string().c_str();
}

}  // namespace WEFT_NAMESPACE::ip
