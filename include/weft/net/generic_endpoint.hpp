// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <string_view>

#include <weft/net/endpoint_storage.hpp>
#include <weft/net/fwd.hpp>

namespace WEFT_NAMESPACE::generic {

/// The address of a socket of any family: at most the 128 bytes of a sockaddr_storage.
///
/// Distinct objects may be used from different threads. Meets the Endpoint requirements.
///
///     generic::stream_protocol::endpoint e(ip::tcp::endpoint(ip::address_v4::loopback(), 80));
template <class Protocol>
class basic_endpoint {
 public:
  using protocol_type = Protocol;
  using data_type = sockaddr;

  /// No address: size() is 0.
  basic_endpoint() noexcept = default;
  /// Copies `size` bytes of a native address; throws system_error with invalid_argument if they
  /// are more than capacity().
  basic_endpoint(const void* address, std::size_t size, int protocol = 0)
      : storage_(address, size, protocol) {}
  /// From an endpoint of a specific protocol; throws as above.
  template <class Endpoint>
    requires(!std::same_as<Endpoint, basic_endpoint>) && requires(const Endpoint& endpoint) {
      { endpoint.data() } -> std::convertible_to<const void*>;
      { endpoint.size() } -> std::convertible_to<std::size_t>;
      { endpoint.protocol().protocol() } -> std::convertible_to<int>;
    }
  basic_endpoint(const Endpoint& endpoint)
      : storage_(endpoint.data(), endpoint.size(), endpoint.protocol().protocol()) {}

  protocol_type protocol() const { return protocol_type(storage_.family(), storage_.protocol()); }

  data_type* data() noexcept { return storage_.data(); }
  const data_type* data() const noexcept { return storage_.data(); }
  /// In bytes.
  std::size_t size() const noexcept { return storage_.size(); }
  /// Throws system_error with invalid_argument if `size` is more than capacity().
  void resize(std::size_t size) { storage_.resize(size); }
  std::size_t capacity() const noexcept { return storage_.capacity(); }

  /// By the bytes of the address; the protocol number does not count.
  friend bool operator==(const basic_endpoint& a, const basic_endpoint& b) noexcept {
    return a.storage_.view() == b.storage_.view();
  }
  friend std::strong_ordering operator<=>(const basic_endpoint& a,
                                          const basic_endpoint& b) noexcept {
    return a.storage_.view() <=> b.storage_.view();
  }

 private:
  friend struct std::hash<basic_endpoint>;

  detail::generic_endpoint storage_;
};

}  // namespace WEFT_NAMESPACE::generic

template <class Protocol>
struct std::hash<WEFT_NAMESPACE::generic::basic_endpoint<Protocol>> {
  std::size_t operator()(
      const WEFT_NAMESPACE::generic::basic_endpoint<Protocol>& endpoint) const noexcept {
    return std::hash<std::string_view>()(endpoint.storage_.view());
  }
};
