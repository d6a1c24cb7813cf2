// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Names that all file classes share. The values are those of open(2) and lseek(2) on Linux, which
/// src/io/file_ops.cpp checks.
class file_base {
 public:
  /// How a file is opened: one of read_only, write_only and read_write, with any of the others.
  enum flags : unsigned {
    read_only = 0,
    write_only = 1,
    read_write = 2,
    create = 0100,                 ///< Make the file if there is none.
    exclusive = 0200,              ///< With create: fail with EEXIST if there is one.
    truncate = 01000,              ///< Discard what is in it.
    append = 02000,                ///< Write at the end, wherever the position is.
    sync_all_on_write = 04010000,  ///< Each write returns when data and metadata are on the disk.
  };

  /// What a position is counted from.
  enum seek_basis { seek_set = 0, seek_cur = 1, seek_end = 2 };

  friend constexpr flags operator&(flags x, flags y) noexcept {
    return static_cast<flags>(static_cast<unsigned>(x) & static_cast<unsigned>(y));
  }
  friend constexpr flags operator|(flags x, flags y) noexcept {
    return static_cast<flags>(static_cast<unsigned>(x) | static_cast<unsigned>(y));
  }
  friend constexpr flags operator^(flags x, flags y) noexcept {
    return static_cast<flags>(static_cast<unsigned>(x) ^ static_cast<unsigned>(y));
  }
  friend constexpr flags operator~(flags x) noexcept {
    return static_cast<flags>(~static_cast<unsigned>(x));
  }
  friend constexpr flags& operator&=(flags& x, flags y) noexcept { return x = x & y; }
  friend constexpr flags& operator|=(flags& x, flags y) noexcept { return x = x | y; }
  friend constexpr flags& operator^=(flags& x, flags y) noexcept { return x = x ^ y; }

 protected:
  ~file_base() = default;
};

namespace detail {
/// The permissions of a file that is created, before the umask: 0666.
inline constexpr unsigned default_permissions = 0666;
}  // namespace detail

}  // namespace WEFT_NAMESPACE
