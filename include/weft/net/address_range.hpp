// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>

#include <weft/net/address_iterator.hpp>

namespace WEFT_NAMESPACE::ip {

/// A half-open range of consecutive addresses: [first, last).
///
///     for (const ip::address_v4& host : ip::make_network_v4("192.168.0.0/24").hosts()) ...
template <class Address>
class basic_address_range {
 public:
  using iterator = basic_address_iterator<Address>;

  /// The empty range.
  constexpr basic_address_range() noexcept : begin_(Address()), end_(Address()) {}
  /// Precondition: `first` reaches `last` by increments; past the last address of all comes the
  /// first.
  constexpr basic_address_range(const iterator& first, const iterator& last) noexcept
      : begin_(first), end_(last) {}

  constexpr iterator begin() const noexcept { return begin_; }
  constexpr iterator end() const noexcept { return end_; }
  constexpr bool empty() const noexcept { return begin_ == end_; }

  /// The number of addresses, in constant time. For IPv4 only: an IPv6 range may hold more than
  /// std::size_t counts.
  constexpr std::size_t size() const noexcept
    requires std::same_as<Address, address_v4>
  {
    return end_->to_uint() - begin_->to_uint();
  }

  /// An iterator to `address` if the range holds it, else end(); in constant time. An IPv6 address
  /// with another scope id than the range's is not in it.
  constexpr iterator find(const Address& address) const noexcept {
    const bool end_wrapped = *end_ < *begin_;
    const bool found = *begin_ <= address && (address < *end_ || end_wrapped) &&
                       detail::scope_of(address) == detail::scope_of(*begin_);
    return found ? iterator(address) : end_;
  }

 private:
  iterator begin_;
  iterator end_;
};

using address_v4_range = basic_address_range<address_v4>;
using address_v6_range = basic_address_range<address_v6>;

}  // namespace WEFT_NAMESPACE::ip
