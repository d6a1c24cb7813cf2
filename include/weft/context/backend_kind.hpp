// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// The mechanisms by which a context talks to the kernel about I/O.
enum class backend_kind : unsigned char {
  automatic,  ///< The one that measured faster for this kind of context; see docs/backends.md.
  epoll,      ///< epoll(7), and a small thread pool for files.
  uring       ///< io_uring(7), Linux 6.0 and later, where the system permits it.
};

/// "automatic", "epoll" or "uring".
WEFT_API const char* to_string(backend_kind kind) noexcept;

/// Whether this process may use the backend here and now: io_uring can be missing from the kernel
/// or be denied by a security policy. Found out once per process for io_uring. Any thread.
WEFT_API bool backend_available(backend_kind kind) noexcept;

}  // namespace WEFT_NAMESPACE
