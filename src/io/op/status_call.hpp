// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cerrno>

#include <weft/io/io_operation.hpp>

namespace WEFT_NAMESPACE::detail {

/// The outcome of a system call that returned `result`.
inline error_code outcome(int result) noexcept {
  return result < 0 ? errno_code(errno) : error_code();
}

/// io_kind::finish of operations that only succeed or fail.
inline io_status finish_status(io_operation& op, io_answer answer) noexcept {
  if (answer.result == -EINTR)
    return io_status::again;
  op.ec = answer.result < 0 ? errno_code(-answer.result) : error_code();
  return io_status::done;
}

}  // namespace WEFT_NAMESPACE::detail
