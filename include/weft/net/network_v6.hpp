// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <iosfwd>
#include <string>
#include <string_view>

#include <weft/base/error_code.hpp>
#include <weft/net/address_range.hpp>
#include <weft/net/address_v6.hpp>

namespace WEFT_NAMESPACE::ip {

/// An IPv6 network: an address and the number of leading bits that name the network (RFC 4291).
/// The host bits of the address are kept; canonical() drops them.
///
///     auto net = ip::make_network_v6("2001:db8::1/32");
///     assert(net.canonical().to_string() == "2001:db8::/32");
class network_v6 {
 public:
  /// ::/0
  constexpr network_v6() noexcept = default;
  /// Throws std::out_of_range if `prefix_length` is more than 128.
  WEFT_API network_v6(const address_v6& address, unsigned short prefix_length);

  constexpr address_v6 address() const noexcept { return address_; }
  constexpr unsigned short prefix_length() const noexcept { return prefix_length_; }

  /// The address with the host bits cleared.
  WEFT_API address_v6 network() const noexcept;
  /// All addresses of the network. Of ::/0 the last one is left out, since nothing comes after it.
  WEFT_API address_v6_range hosts() const noexcept;

  /// The same network without host bits.
  network_v6 canonical() const noexcept { return {network(), prefix_length_}; }
  /// Whether the network is a single address (a /128).
  constexpr bool is_host() const noexcept { return prefix_length_ == 128; }
  /// Whether this network lies within `other` and is smaller.
  bool is_subnet_of(const network_v6& other) const noexcept {
    return other.prefix_length_ < prefix_length_ &&
           network_v6(address_, other.prefix_length_).network() == other.network();
  }

  /// "address/prefix length", host bits included. The second form never fails: `ec` is cleared.
  WEFT_API std::string to_string() const;
  std::string to_string(error_code& ec) const {
    ec.clear();
    return to_string();
  }

  /// Equal are networks of equal address and prefix length; host bits count.
  friend constexpr bool operator==(const network_v6&, const network_v6&) noexcept = default;

 private:
  address_v6 address_;
  unsigned short prefix_length_ = 0;
};

/// As the constructor of network_v6, which says what is thrown.
inline network_v6 make_network_v6(const address_v6& address, unsigned short prefix_length) {
  return {address, prefix_length};
}

/// Parses "address/prefix length", as in "2001:db8::/32"; a scope stands before the slash. Errors
/// are those of make_address_v6, and invalid_argument for the rest; then ::/0 is returned. The
/// form without an error_code throws system_error.
WEFT_API network_v6 make_network_v6(std::string_view text, error_code& ec) noexcept;
WEFT_API network_v6 make_network_v6(std::string_view text);

template <class Elem, class Traits>
std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                             const network_v6& network) {
  return os << network.to_string().c_str();
}

}  // namespace WEFT_NAMESPACE::ip
