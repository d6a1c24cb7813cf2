// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <liburing.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include <weft/io/op/registered_transfer.hpp>

#include "io/io_driver.hpp"
#include "io/op/vectors.hpp"

namespace WEFT_NAMESPACE::detail {

/// Describes a transfer of a registered buffer, or of a part of it, to io_uring: `opcode` is
/// IORING_OP_READ_FIXED or IORING_OP_WRITE_FIXED (Linux 5.1).
inline void prepare_fixed(io_uring_sqe& sqe, int opcode, int fd, const registered_transfer& buffer,
                          const void* data, std::size_t size, std::uint64_t offset) noexcept {
  io_uring_prep_rw(opcode, &sqe, fd, data, static_cast<unsigned>(std::min(size, max_transfer)),
                   offset);
  sqe.buf_index = static_cast<std::uint16_t>(buffer.index);
}

/// io_kind::registered of operations with such a buffer.
template <class Operation>
registered_transfer& registered_of(io_operation& base) noexcept {
  return static_cast<Operation&>(base).registered;
}

/// Takes note of io_uring's answer. True: it does not transfer registered buffers here (a
/// registration that has ended, a device that it cannot wait for), and the operation is to be
/// submitted once more.
inline bool refuses_fixed(io_operation& op, registered_transfer& buffer, int result) noexcept {
  if (!buffer.fixed)
    return false;
  switch (-result) {
    case EAGAIN:
    case EFAULT:
    case EINVAL:
    case ENOMEM:
    case EOPNOTSUPP: buffer.refused = true; return true;
    default: break;
  }
  if (result >= 0)
    io_driver::count_fixed(op);
  return false;
}

/// io_kind::finish of operations that `Finish` finishes with an ordinary buffer.
template <class Operation, io_status (*Finish)(io_operation&, io_answer) noexcept>
io_status finish_registered(io_operation& base, io_answer answer) noexcept {
  return refuses_fixed(base, registered_of<Operation>(base), answer.result) ? io_status::again
                                                                            : Finish(base, answer);
}

}  // namespace WEFT_NAMESPACE::detail
