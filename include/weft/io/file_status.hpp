// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::fs {

enum class file_type : unsigned char {
  none,  ///< No status was taken.
  regular,
  directory,
  symlink,
  block_device,
  character_device,
  fifo,
  socket,
  unknown
};

/// Of the system's clock, in nanoseconds since 1970. A time outside the years 1678 to 2261 is the
/// nearest one inside.
using file_time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/// What is known of a file: statx(2). What the file system does not know is zero.
struct file_status {
  file_type type = file_type::none;
  /// The permission bits, set-user-ID, set-group-ID and sticky: 07777 at most.
  std::uint16_t permissions = 0;
  std::uint32_t user = 0;
  std::uint32_t group = 0;
  /// How many names the file has.
  std::uint32_t links = 0;
  /// In bytes.
  std::uint64_t size = 0;
  /// What the file takes up on the disk, in bytes: less than its size if it has holes.
  std::uint64_t allocated = 0;
  /// The best size of transfers, in bytes.
  std::uint32_t block_size = 0;
  std::uint64_t inode = 0;
  /// The file system; with inode it identifies the file.
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  file_time access_time{};
  file_time modification_time{};
  /// Of the last change to the file or to its status.
  file_time change_time{};
  file_time creation_time{};

  bool is_regular_file() const noexcept { return type == file_type::regular; }
  bool is_directory() const noexcept { return type == file_type::directory; }
  bool is_symlink() const noexcept { return type == file_type::symlink; }
};

/// Whether stat looks at what a symbolic link names, or at the link.
enum class symlinks : bool { follow, do_not_follow };

}  // namespace WEFT_NAMESPACE::fs
