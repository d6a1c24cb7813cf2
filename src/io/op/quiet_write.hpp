// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/types.h>

#include <cstddef>

#include <weft/io/buffer_sequence_adapter.hpp>

namespace WEFT_NAMESPACE::detail {

/// RWF_NOSIGNAL of <linux/fs.h>, Linux 6.18: a write fails with EPIPE, without the signal.
inline constexpr int quiet_write_flag = 0x100;

/// Whether the kernel knows it; found out once.
WEFT_API bool quiet_write_flag_known() noexcept;

/// writev(2) that never raises SIGPIPE and leaves the process's disposition, and a SIGPIPE that was
/// pending before, alone. -1 and errno on error, EINTR among them. One system call since Linux
/// 6.18, four before.
WEFT_API ssize_t quiet_write(int fd, const io_vector* vectors, std::size_t count) noexcept;

/// How it is done where the kernel cannot: with SIGPIPE blocked in the calling thread meanwhile.
WEFT_API ssize_t masked_write(int fd, const io_vector* vectors, std::size_t count) noexcept;

}  // namespace WEFT_NAMESPACE::detail
