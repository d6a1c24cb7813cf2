// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/io/file_status.hpp>
#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// What statx(2) fills in: struct statx is complete only in src/.
struct statx_memory {
  static constexpr std::size_t size = 256;
  alignas(8) unsigned char bytes[size];
};

/// Takes the status of a file: statx(2), IORING_OP_STATX (Linux 5.6). Of the path; or, if that is
/// empty, of the descriptor that the operation is started on.
class WEFT_API stat_operation : public io_operation {
 public:
  stat_operation(function f, scheduler& owner, io_queue queue,
                 fs::symlinks how = fs::symlinks::follow) noexcept
      : io_operation(f, owner, stat_kind, queue), links(how) {}

  operation_results<error_code, fs::file_status> take_results() const noexcept {
    return {ec, ec ? fs::file_status() : status()};
  }

  const char* path = "";  ///< See kept_paths.
  fs::symlinks links;
  statx_memory memory;

 private:
  fs::file_status status() const noexcept;

  static const io_kind stat_kind;
};

WEFT_API fs::file_status stat_path(const char* path, fs::symlinks links, error_code& ec) noexcept;
WEFT_API fs::file_status stat_descriptor(int fd, error_code& ec) noexcept;

}  // namespace WEFT_NAMESPACE::detail
