// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <iterator>

#include <weft/net/address_v4.hpp>
#include <weft/net/address_v6.hpp>

namespace WEFT_NAMESPACE::detail {

/// The address after or before, wrapping around at the ends of the address space; the scope id of
/// an IPv6 address is kept.
constexpr ip::address_v4 next_address(const ip::address_v4& address) noexcept {
  return ip::address_v4(ip::address_v4::uint_type{address.to_uint() + 1});
}
constexpr ip::address_v4 previous_address(const ip::address_v4& address) noexcept {
  return ip::address_v4(ip::address_v4::uint_type{address.to_uint() - 1});
}
constexpr ip::address_v6 next_address(const ip::address_v6& address) noexcept {
  ip::address_v6::bytes_type bytes = address.to_bytes();
  for (std::size_t i = bytes.size(); i-- > 0;)
    if (++bytes[i] != 0)
      break;
  return ip::address_v6(bytes, address.scope_id());
}
constexpr ip::address_v6 previous_address(const ip::address_v6& address) noexcept {
  ip::address_v6::bytes_type bytes = address.to_bytes();
  for (std::size_t i = bytes.size(); i-- > 0;)
    if (bytes[i]-- != 0)
      break;
  return ip::address_v6(bytes, address.scope_id());
}

constexpr ip::scope_id_type scope_of(const ip::address_v4&) noexcept {
  return 0;
}
constexpr ip::scope_id_type scope_of(const ip::address_v6& address) noexcept {
  return address.scope_id();
}

}  // namespace WEFT_NAMESPACE::detail

namespace WEFT_NAMESPACE::ip {

/// Walks through consecutive addresses, in both directions, wrapping around at the ends of the
/// address space. An input iterator only, since the address it refers to lives in itself.
template <class Address>
class basic_address_iterator {
 public:
  using value_type = Address;
  using difference_type = std::ptrdiff_t;
  using pointer = const Address*;
  using reference = const Address&;
  using iterator_category = std::input_iterator_tag;

  constexpr basic_address_iterator(const Address& address) noexcept : address_(address) {}

  constexpr const Address& operator*() const noexcept { return address_; }
  constexpr const Address* operator->() const noexcept { return &address_; }

  constexpr basic_address_iterator& operator++() noexcept {
    address_ = detail::next_address(address_);
    return *this;
  }
  constexpr basic_address_iterator operator++(int) noexcept {
    basic_address_iterator old(*this);
    ++*this;
    return old;
  }
  constexpr basic_address_iterator& operator--() noexcept {
    address_ = detail::previous_address(address_);
    return *this;
  }
  constexpr basic_address_iterator operator--(int) noexcept {
    basic_address_iterator old(*this);
    --*this;
    return old;
  }

  friend constexpr bool operator==(const basic_address_iterator&,
                                   const basic_address_iterator&) noexcept = default;

 private:
  Address address_;
};

using address_v4_iterator = basic_address_iterator<address_v4>;
using address_v6_iterator = basic_address_iterator<address_v6>;

}  // namespace WEFT_NAMESPACE::ip
