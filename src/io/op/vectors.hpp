// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <linux/io_uring.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <algorithm>

#include <weft/io/op/read.hpp>

namespace WEFT_NAMESPACE::detail {

/// The most bytes one read or write moves: read(2).
inline constexpr std::size_t max_transfer = 0x7ffff000;

inline const iovec* native(const io_vector* vectors) noexcept {
  return reinterpret_cast<const iovec*>(vectors);
}

/// Whether a transfer of no bytes means something.
inline bool wants_bytes(const io_vector* vectors, std::size_t count) noexcept {
  return std::any_of(vectors, vectors + count, [](const io_vector& v) { return v.size != 0; });
}

/// The offset of a transfer, as io_uring takes it.
template <class Operation>
std::uint64_t transfer_offset(const Operation& op) noexcept {
  // -1 would be the current position; -2 is no offset either.
  constexpr auto current = static_cast<std::uint64_t>(-1);
  constexpr auto invalid = static_cast<std::uint64_t>(-2);
  return op.mode == transfer_mode::file_at ? std::min(op.offset, invalid) : current;
}

/// Describes a transfer to io_uring. `single` and `several` are its opcodes for one buffer and for
/// a list.
template <class Operation>
void prepare_transfer(const Operation& op, io_uring_sqe& sqe, std::uint8_t single,
                      std::uint8_t several) noexcept {
  sqe.fd = op.fd;
  sqe.off = transfer_offset(op);
  if (op.count == 1) {
    sqe.opcode = single;
    sqe.addr = reinterpret_cast<std::uintptr_t>(op.vectors->base);
    sqe.len = static_cast<std::uint32_t>(std::min(op.vectors->size, max_transfer));
  } else {
    sqe.opcode = several;
    sqe.addr = reinterpret_cast<std::uintptr_t>(op.vectors);
    sqe.len = static_cast<std::uint32_t>(op.count);
  }
}

}  // namespace WEFT_NAMESPACE::detail
