// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether this process may make an io_uring of Linux 6.0 or later; found out once.
bool uring_available() noexcept;

}  // namespace WEFT_NAMESPACE::detail
