// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// Opens a file: open(2), or IORING_OP_OPENAT (Linux 5.6). The descriptor is close-on-exec, and the
/// operation's until it is taken.
class WEFT_API open_operation : public status_operation {
 public:
  const char* path = nullptr;  ///< See kept_paths.
  int flags;
  unsigned permissions;
  int opened = -1;

  int take() noexcept { return std::exchange(opened, -1); }

 protected:
  open_operation(function f, scheduler& owner, int how, unsigned permission_bits) noexcept
      : status_operation(f, owner, open_kind, io_queue::concurrent),
        flags(how),
        permissions(permission_bits) {}
  ~open_operation() { discard(take()); }

  static void discard(int fd) noexcept;

 private:
  static const io_kind open_kind;
};

}  // namespace WEFT_NAMESPACE::detail
