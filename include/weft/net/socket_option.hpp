// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <stdexcept>

#include <weft/base/config.hpp>

/// Building blocks for socket options. An option is any type with the members used below
/// (level, name, data, size, and resize if it can be read), each called with the protocol of the
/// socket: the GettableSocketOption and SettableSocketOption requirements. Options of one's own
/// come from these templates or are written by hand:
///
///     using busy_poll = socket_option::integer<SOL_SOCKET, SO_BUSY_POLL>;
///     socket.set_option(busy_poll(50));
namespace WEFT_NAMESPACE::socket_option {

/// An option that is an int, in a unit the option says.
template <int Level, int Name>
class integer {
 public:
  integer() noexcept = default;
  explicit integer(int value) noexcept : value_(value) {}
  integer& operator=(int value) noexcept {
    value_ = value;
    return *this;
  }

  int value() const noexcept { return value_; }

  template <class Protocol>
  int level(const Protocol&) const noexcept {
    return Level;
  }
  template <class Protocol>
  int name(const Protocol&) const noexcept {
    return Name;
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

/// An option that is an int and means true or false.
template <int Level, int Name>
class boolean {
 public:
  boolean() noexcept = default;
  explicit boolean(bool value) noexcept : value_(value ? 1 : 0) {}
  boolean& operator=(bool value) noexcept {
    value_ = value ? 1 : 0;
    return *this;
  }

  bool value() const noexcept { return value_ != 0; }
  explicit operator bool() const noexcept { return value(); }
  bool operator!() const noexcept { return !value(); }

  template <class Protocol>
  int level(const Protocol&) const noexcept {
    return Level;
  }
  template <class Protocol>
  int name(const Protocol&) const noexcept {
    return Name;
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

/// An option like SO_LINGER: enabled or not, with a timeout in seconds.
template <int Level, int Name>
class linger {
 public:
  linger() noexcept = default;
  linger(bool enabled, int timeout) noexcept : value_{enabled ? 1 : 0, timeout} {}

  bool enabled() const noexcept { return value_.enabled != 0; }
  void enabled(bool value) noexcept { value_.enabled = value ? 1 : 0; }
  int timeout() const noexcept { return value_.timeout; }
  void timeout(int seconds) noexcept { value_.timeout = seconds; }

  template <class Protocol>
  int level(const Protocol&) const noexcept {
    return Level;
  }
  template <class Protocol>
  int name(const Protocol&) const noexcept {
    return Name;
  }
  template <class Protocol>
  void* data(const Protocol&) noexcept {
    return &value_;
  }
  template <class Protocol>
  const void* data(const Protocol&) const noexcept {
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
      throw std::length_error("socket option resize: not the size of a linger");
  }

 private:
  struct {
    int enabled = 0;
    int timeout = 0;
  } value_;
};

}  // namespace WEFT_NAMESPACE::socket_option

namespace WEFT_NAMESPACE::detail {

/// Programs written for Asio know the templates under this name.
namespace socket_option = WEFT_NAMESPACE::socket_option;

/// Options with this level are the library's own: a socket keeps them in itself and makes no
/// system call. The kernel's levels are not negative.
inline constexpr int library_option_level = -0x5E;
inline constexpr int enable_connection_aborted_option = 1;

}  // namespace WEFT_NAMESPACE::detail
