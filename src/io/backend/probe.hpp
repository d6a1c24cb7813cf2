// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether this process may make an io_uring of Linux 6.0 or later; found out once.
bool uring_available() noexcept;

/// Whether the answer to a receive says, by IORING_CQE_F_SOCK_NONEMPTY, that the socket holds more:
/// of TCP (Linux 5.19) and of UNIX-domain streams (6.17), both or none. Found out once.
bool receives_tell_of_more() noexcept;

}  // namespace WEFT_NAMESPACE::detail
