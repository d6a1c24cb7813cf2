// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// A change to a directory, named by one path or two, which kept_paths keeps.
class WEFT_API path_operation : public status_operation {
 public:
  path_operation(function f, scheduler& owner, const io_kind* kind, unsigned mode_or_flags) noexcept
      : status_operation(f, owner, *kind, io_queue::concurrent), flags(mode_or_flags) {}

  const char* path = nullptr;
  const char* second = nullptr;
  unsigned flags;  ///< Permissions of mkdir, flags of rename.
};

// Each kind with the call that does the same at once. Synchronous calls retry EINTR.

/// unlink(2), IORING_OP_UNLINKAT (Linux 5.11).
WEFT_API extern const io_kind unlink_kind;
WEFT_API error_code unlink_path(const char* path) noexcept;

/// rmdir(2), IORING_OP_UNLINKAT.
WEFT_API extern const io_kind rmdir_kind;
WEFT_API error_code remove_directory(const char* path) noexcept;

/// mkdir(2), IORING_OP_MKDIRAT (Linux 5.15).
WEFT_API extern const io_kind mkdir_kind;
WEFT_API error_code make_directory(const char* path, unsigned permissions) noexcept;

/// renameat2(2), IORING_OP_RENAMEAT (Linux 5.11).
WEFT_API extern const io_kind rename_kind;
WEFT_API error_code rename_path(const char* from, const char* to, unsigned flags) noexcept;

/// link(2), IORING_OP_LINKAT (Linux 5.15).
WEFT_API extern const io_kind link_kind;
WEFT_API error_code link_path(const char* existing, const char* name) noexcept;

/// symlink(2), IORING_OP_SYMLINKAT (Linux 5.15).
WEFT_API extern const io_kind symlink_kind;
WEFT_API error_code symlink_path(const char* target, const char* name) noexcept;

}  // namespace WEFT_NAMESPACE::detail
