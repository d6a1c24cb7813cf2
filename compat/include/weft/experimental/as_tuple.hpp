// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/as_tuple.hpp>

/// Where Asio kept these before they left its experimental namespace.
namespace WEFT_NAMESPACE::experimental {
using WEFT_NAMESPACE::as_tuple;
using WEFT_NAMESPACE::as_tuple_t;
}  // namespace WEFT_NAMESPACE::experimental
