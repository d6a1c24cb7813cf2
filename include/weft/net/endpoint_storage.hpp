// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <weft/base/error_code.hpp>
#include <weft/base/socket_constants.hpp>
#include <weft/net/address.hpp>

struct sockaddr;

namespace WEFT_NAMESPACE::detail {

[[noreturn]] WEFT_API void throw_endpoint_too_large();

/// A socket address in place, as the system calls read and write it: `Capacity` bytes, of which
/// the first two are the address family.
template <std::size_t Capacity>
class sockaddr_bytes {
 public:
  sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(bytes_); }
  const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(bytes_); }
  std::string_view view(std::size_t size) const noexcept {
    return {reinterpret_cast<const char*>(bytes_), size};
  }

  int family() const noexcept { return load<std::uint16_t>(0); }
  void family(int value) noexcept { store(0, static_cast<std::uint16_t>(value)); }

  template <class T>
  T load(std::size_t offset) const noexcept {
    T value;
    std::memcpy(&value, bytes_ + offset, sizeof(T));
    return value;
  }
  template <class T>
  void store(std::size_t offset, const T& value) noexcept {
    std::memcpy(bytes_ + offset, &value, sizeof(T));
  }
  void copy_in(std::size_t offset, const void* from, std::size_t size) noexcept {
    if (size != 0)
      std::memcpy(bytes_ + offset, from, size);
  }

 private:
  alignas(8) unsigned char bytes_[Capacity] = {};
};

/// What all instances of ip::basic_endpoint share: a sockaddr_in or sockaddr_in6.
class ip_endpoint {
 public:
  ip_endpoint() noexcept : ip_endpoint(os::af_inet, 0) {}
  ip_endpoint(int family, std::uint16_t port) noexcept {
    bytes_.family(family);
    this->port(port);
  }
  ip_endpoint(const ip::address& address, std::uint16_t port) noexcept {
    this->address(address, port);
  }

  bool is_v4() const noexcept { return bytes_.family() == os::af_inet; }

  sockaddr* data() noexcept { return bytes_.data(); }
  const sockaddr* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept {
    return is_v4() ? os::sockaddr_in_size : os::sockaddr_in6_size;
  }
  void resize(std::size_t size) {
    if (size > capacity())
      throw_endpoint_too_large();
  }
  static constexpr std::size_t capacity() noexcept { return os::sockaddr_in6_size; }

  // The port has the same place in both structures.
  std::uint16_t port() const noexcept {
    const auto high_low = bytes_.load<std::array<unsigned char, 2>>(os::sockaddr_in_port);
    return static_cast<std::uint16_t>(high_low[0] << 8 | high_low[1]);
  }
  void port(std::uint16_t value) noexcept {
    bytes_.store(os::sockaddr_in_port,
                 std::array<unsigned char, 2>{static_cast<unsigned char>(value >> 8),
                                              static_cast<unsigned char>(value)});
  }

  ip::address address() const noexcept {
    if (is_v4())
      return ip::address_v4(bytes_.load<ip::address_v4::bytes_type>(os::sockaddr_in_addr));
    return ip::address_v6(bytes_.load<ip::address_v6::bytes_type>(os::sockaddr_in6_addr),
                          bytes_.load<std::uint32_t>(os::sockaddr_in6_scope_id));
  }
  void address(const ip::address& address, std::uint16_t port) noexcept {
    bytes_ = {};
    if (address.is_v4()) {
      bytes_.family(os::af_inet);
      bytes_.store(os::sockaddr_in_addr, address.to_v4().to_bytes());
    } else {
      const ip::address_v6 v6 = address.to_v6();
      bytes_.family(os::af_inet6);
      bytes_.store(os::sockaddr_in6_addr, v6.to_bytes());
      bytes_.store(os::sockaddr_in6_scope_id, std::uint32_t{v6.scope_id()});
    }
    this->port(port);
  }

  /// "1.2.3.4:80" or "[::1]:80".
  WEFT_API std::string to_string() const;

  friend bool operator==(const ip_endpoint& a, const ip_endpoint& b) noexcept {
    return a.port() == b.port() && a.address() == b.address();
  }
  friend std::strong_ordering operator<=>(const ip_endpoint& a, const ip_endpoint& b) noexcept {
    const auto by_address = a.address() <=> b.address();
    return by_address != 0 ? by_address : a.port() <=> b.port();
  }

 private:
  static_assert(os::sockaddr_in_port == os::sockaddr_in6_port);

  sockaddr_bytes<os::sockaddr_in6_size> bytes_;
};

/// What all instances of local::basic_endpoint share: a sockaddr_un and the length of its path.
class local_endpoint {
 public:
  local_endpoint() noexcept { bytes_.family(os::af_unix); }
  explicit local_endpoint(std::string_view path) : local_endpoint() { this->path(path); }

  sockaddr* data() noexcept { return bytes_.data(); }
  const sockaddr* data() const noexcept { return bytes_.data(); }
  WEFT_API std::size_t size() const noexcept;
  WEFT_API void resize(std::size_t size);
  static constexpr std::size_t capacity() noexcept { return os::sockaddr_un_size; }

  std::string_view path() const noexcept {
    return bytes_.view(os::sockaddr_un_path + path_length_).substr(os::sockaddr_un_path);
  }
  WEFT_API void path(std::string_view path);

 private:
  bool is_abstract() const noexcept {
    return path_length_ > 0 && bytes_.load<char>(os::sockaddr_un_path) == '\0';
  }

  sockaddr_bytes<os::sockaddr_un_size> bytes_;
  std::size_t path_length_ = 0;
};

/// What all instances of generic::basic_endpoint share: any address of at most the size of a
/// sockaddr_storage, its size, and the protocol number.
class generic_endpoint {
 public:
  generic_endpoint() noexcept = default;
  generic_endpoint(const void* address, std::size_t size, int protocol) : protocol_(protocol) {
    resize(size);
    bytes_.copy_in(0, address, size);
  }

  int family() const noexcept { return bytes_.family(); }
  int protocol() const noexcept { return protocol_; }

  sockaddr* data() noexcept { return bytes_.data(); }
  const sockaddr* data() const noexcept { return bytes_.data(); }
  std::size_t size() const noexcept { return size_; }
  void resize(std::size_t size) {
    if (size > capacity())
      throw_endpoint_too_large();
    size_ = size;
  }
  static constexpr std::size_t capacity() noexcept { return os::sockaddr_storage_size; }

  std::string_view view() const noexcept { return bytes_.view(size_); }

 private:
  sockaddr_bytes<os::sockaddr_storage_size> bytes_;
  std::size_t size_ = 0;
  int protocol_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
