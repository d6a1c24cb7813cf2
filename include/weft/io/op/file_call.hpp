// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// A call on an open file that only succeeds or fails.
class WEFT_API file_call_operation : public status_operation {
 public:
  file_call_operation(function f, scheduler& owner, const io_kind* kind, io_queue queue,
                      int call_flags = 0, std::uint64_t from = 0, std::uint64_t size = 0) noexcept
      : status_operation(f, owner, *kind, queue), flags(call_flags), offset(from), length(size) {}

  int flags;
  std::uint64_t offset;  ///< In bytes.
  std::uint64_t length;  ///< In bytes.
};

/// fsync(2), IORING_OP_FSYNC (Linux 5.1).
WEFT_API extern const io_kind fsync_kind;
/// fdatasync(2), IORING_OP_FSYNC.
WEFT_API extern const io_kind fdatasync_kind;

/// fallocate(2) of offset and length, with flags; IORING_OP_FALLOCATE (Linux 5.6).
WEFT_API extern const io_kind fallocate_kind;
WEFT_API error_code allocate_file(int fd, int flags, std::uint64_t offset,
                                  std::uint64_t length) noexcept;

/// ftruncate(2) to length, by a helper thread on every backend.
WEFT_API extern const io_kind truncate_kind;

}  // namespace WEFT_NAMESPACE::detail
