// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/io/buffer_sequence_adapter.hpp>

namespace WEFT_NAMESPACE::detail {

/// What scatter-gather socket calls take: laid out as struct msghdr of recvmsg(2), which
/// src/io/op/message_header.cpp checks.
struct message_header {
  void* name = nullptr;         ///< Socket address; null if the call has none.
  std::uint32_t name_size = 0;  ///< In bytes; receiving, first the capacity, then the size.
  io_vector* vectors = nullptr;
  std::size_t count = 0;
  void* control = nullptr;       ///< Ancillary data: cmsg(3).
  std::size_t control_size = 0;  ///< In bytes; receiving, first the capacity, then the size.
  int flags = 0;                 ///< Flags of the message received.

  /// In bytes, of all buffers. O(count).
  std::size_t total_size() const noexcept {
    std::size_t total = 0;
    for (std::size_t i = 0; i != count; ++i)
      total += vectors[i].size;
    return total;
  }
};

/// The most buffers of one transfer on a stream, if their number is not known at compile time. (A
/// stream may transfer less than all at any time; a datagram takes up to max_io_vectors.)
inline constexpr std::size_t max_stream_vectors = 16;

}  // namespace WEFT_NAMESPACE::detail
