// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/config.hpp>
#include <weft/base/socket_constants.hpp>

/// Commands for the io_control functions of sockets and descriptors. A command is any type with a
/// request number name() and a pointer to its argument data() (the IoControlCommand requirements).
namespace WEFT_NAMESPACE::io_control {

/// FIONREAD: how many bytes can be read without blocking (ioctl_tty(2)).
class bytes_readable {
 public:
  bytes_readable() noexcept = default;
  explicit bytes_readable(std::size_t value) noexcept : value_(static_cast<int>(value)) {}

  int name() const noexcept { return detail::os::fionread; }
  void* data() noexcept { return &value_; }

  void set(std::size_t value) noexcept { value_ = static_cast<int>(value); }
  std::size_t get() const noexcept { return static_cast<std::size_t>(value_); }

 private:
  int value_ = 0;
};

}  // namespace WEFT_NAMESPACE::io_control
