// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

/// The most bytes of one step, so that a long transfer does not keep a thread from other work.
inline constexpr std::size_t sendfile_step = 256 * 1024;

/// Sends a part of a file: sendfile(2), when the socket is ready. 0 bytes: the file has ended.
class WEFT_API sendfile_operation : public transfer_operation {
 public:
  sendfile_operation(function f, scheduler& owner, int from, std::uint64_t from_offset,
                     std::size_t most) noexcept
      : transfer_operation(f, owner, sendfile_kind, io_queue::write),
        file(from),
        offset(from_offset),
        size(most) {}

  int file;
  std::uint64_t offset;
  std::size_t size;

 private:
  static const io_kind sendfile_kind;
};

/// One step, at once: 0 with would_block if the socket, in non-blocking mode, takes nothing now.
WEFT_API std::size_t sendfile_now(int socket, int file, std::uint64_t offset, std::size_t size,
                                  error_code& ec) noexcept;

}  // namespace WEFT_NAMESPACE::detail
