// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/deferred.hpp>

/// Where Asio kept these before they left its experimental namespace.
namespace WEFT_NAMESPACE::experimental {
using WEFT_NAMESPACE::deferred;
using WEFT_NAMESPACE::deferred_t;
}  // namespace WEFT_NAMESPACE::experimental
