// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/io_operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// So many bytes in one attempt, and others get their turn: the object is locked meanwhile, and a
/// peer that is as fast could go on for as long as there are bytes.
inline constexpr std::size_t most_at_a_time = 128 * 1024;

/// An attempt of an operation that goes on until all its bytes are transferred. `part(done)` makes
/// one call for what is left after `done` bytes, and says `again` both when that would block and
/// when it has transferred some; it is called until nothing more is to be had, for only then an
/// edge-triggered descriptor tells when there is.
template <class Part>
io_status transfer_parts(io_operation& op, Part part) noexcept {
  const std::size_t first = op.bytes;
  for (std::size_t before = first;; before = op.bytes) {
    const io_status status = part(before);
    if (status != io_status::again || op.bytes == before) [[likely]]
      return status;
    if (op.bytes - first >= most_at_a_time)
      return io_status::more;
  }
}

}  // namespace WEFT_NAMESPACE::detail
