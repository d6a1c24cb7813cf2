// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE::detail {

/// Owns a descriptor.
class native_descriptor {
 public:
  native_descriptor() = default;
  explicit native_descriptor(int fd) noexcept : fd_(fd) {}
  /// Takes the result of a system call that makes a descriptor; throws if it has failed.
  native_descriptor(int fd, const char* what) : fd_(fd) {
    if (fd < 0)
      throw_error(errno_code(errno), what);
  }
  native_descriptor(native_descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  native_descriptor& operator=(native_descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~native_descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

}  // namespace WEFT_NAMESPACE::detail
