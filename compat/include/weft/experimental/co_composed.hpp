// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/coro/co_composed.hpp>

/// Where Asio has it.
namespace WEFT_NAMESPACE::experimental {
using WEFT_NAMESPACE::co_composed;
}  // namespace WEFT_NAMESPACE::experimental
