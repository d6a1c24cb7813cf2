// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/append.hpp>

/// Where Asio kept these before they left its experimental namespace.
namespace WEFT_NAMESPACE::experimental {
using WEFT_NAMESPACE::append;
using WEFT_NAMESPACE::append_t;
}  // namespace WEFT_NAMESPACE::experimental
