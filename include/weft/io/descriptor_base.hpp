// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/config.hpp>
#include <weft/base/socket_constants.hpp>

namespace WEFT_NAMESPACE::posix {

/// Names that all descriptor classes share.
class descriptor_base {
 public:
  /// What `wait` and `async_wait` wait for.
  enum wait_type {
    wait_read,   ///< Readable, or at its end.
    wait_write,  ///< Writable, or broken.
    wait_error   ///< An error, a hang-up, or an exceptional condition (POLLPRI).
  };

  /// For io_control: how many bytes can be read without blocking. FIONREAD, ioctl_tty(2).
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

 protected:
  ~descriptor_base() = default;
};

}  // namespace WEFT_NAMESPACE::posix
