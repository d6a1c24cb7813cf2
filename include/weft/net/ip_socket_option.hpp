// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <stdexcept>

#include <weft/base/socket_constants.hpp>
#include <weft/net/socket_option.hpp>

namespace WEFT_NAMESPACE::detail {

/// An int option with a level and a name for each IP version; the version comes from the protocol.
template <class Value, int V4Name, int V6Name>
class ip_option {
 public:
  ip_option() noexcept = default;
  explicit ip_option(Value value) noexcept : value_(static_cast<int>(value)) {}
  ip_option& operator=(Value value) noexcept {
    value_ = static_cast<int>(value);
    return *this;
  }

  Value value() const noexcept { return static_cast<Value>(value_); }

  template <class Protocol>
  int level(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? os::ipproto_ipv6 : os::ipproto_ip;
  }
  template <class Protocol>
  int name(const Protocol& protocol) const noexcept {
    return protocol.family() == os::af_inet6 ? V6Name : V4Name;
  }
  template <class Protocol>
  int* data(const Protocol&) noexcept {
    return &value_;
  }
  template <class Protocol>
  const int* data(const Protocol&) const noexcept {
    return &value_;
  }
  template <class Protocol>
  std::size_t size(const Protocol&) const noexcept {
    return sizeof(value_);
  }
  /// Throws std::length_error if the system returned a value of another size.
  template <class Protocol>
  void resize(const Protocol&, std::size_t size) {
    if (size != sizeof(value_))
      throw std::length_error("socket option resize: not the size of an int");
  }

 private:
  int value_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
