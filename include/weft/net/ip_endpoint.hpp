// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include <weft/net/address.hpp>
#include <weft/net/endpoint_storage.hpp>
#include <weft/net/fwd.hpp>

namespace WEFT_NAMESPACE::ip {

/// A port number, in host byte order.
using port_type = std::uint_least16_t;

/// An IP address and a port: where a TCP, UDP or ICMP socket is bound or connected.
///
/// The socket address is kept in place, so data() and size() go to system calls as they are.
/// Distinct objects may be used from different threads. Meets the Endpoint requirements.
///
///     ip::tcp::endpoint any(ip::tcp::v6(), 8080);                      // [::]:8080
///     ip::tcp::endpoint one(ip::make_address("127.0.0.1"), 8080);      // 127.0.0.1:8080
template <class InternetProtocol>
class basic_endpoint {
 public:
  using protocol_type = InternetProtocol;
  using data_type = sockaddr;

  /// 0.0.0.0, port 0.
  basic_endpoint() noexcept = default;
  /// The unspecified address of the version that `protocol` says.
  basic_endpoint(const InternetProtocol& protocol, port_type port) noexcept
      : storage_(protocol.family(), port) {}
  basic_endpoint(const ip::address& address, port_type port) noexcept : storage_(address, port) {}

  protocol_type protocol() const noexcept {
    return storage_.is_v4() ? InternetProtocol::v4() : InternetProtocol::v6();
  }

  data_type* data() noexcept { return storage_.data(); }
  const data_type* data() const noexcept { return storage_.data(); }
  /// In bytes; follows from the address family.
  std::size_t size() const noexcept { return storage_.size(); }
  /// Takes note of the size that a system call returned; throws system_error with
  /// invalid_argument if it is more than capacity(). The family decides what size() reports.
  void resize(std::size_t size) { storage_.resize(size); }
  std::size_t capacity() const noexcept { return storage_.capacity(); }

  port_type port() const noexcept { return storage_.port(); }
  void port(port_type port) noexcept { storage_.port(port); }

  ip::address address() const noexcept { return storage_.address(); }
  /// Changes the address, perhaps its version, and keeps the port.
  void address(const ip::address& address) noexcept { storage_.address(address, port()); }

  friend bool operator==(const basic_endpoint&, const basic_endpoint&) noexcept = default;
  /// By address, then by port.
  friend auto operator<=>(const basic_endpoint&, const basic_endpoint&) noexcept = default;

  /// Writes "1.2.3.4:80" or "[::1]:80".
  template <class Elem, class Traits>
  friend std::basic_ostream<Elem, Traits>& operator<<(std::basic_ostream<Elem, Traits>& os,
                                                      const basic_endpoint& endpoint) {
    return os << endpoint.storage_.to_string().c_str();
  }

 private:
  detail::ip_endpoint storage_;
};

}  // namespace WEFT_NAMESPACE::ip

template <class InternetProtocol>
struct std::hash<WEFT_NAMESPACE::ip::basic_endpoint<InternetProtocol>> {
  std::size_t operator()(
      const WEFT_NAMESPACE::ip::basic_endpoint<InternetProtocol>& endpoint) const noexcept {
    const std::size_t address = std::hash<WEFT_NAMESPACE::ip::address>()(endpoint.address());
    return address * 31 + endpoint.port();
  }
};
