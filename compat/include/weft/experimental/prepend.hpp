// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/prepend.hpp>

/// Where Asio kept these before they left its experimental namespace.
namespace WEFT_NAMESPACE::experimental {
using WEFT_NAMESPACE::prepend;
using WEFT_NAMESPACE::prepend_t;
}  // namespace WEFT_NAMESPACE::experimental
