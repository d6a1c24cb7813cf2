// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/sync/channel_error.hpp>

namespace WEFT_NAMESPACE::experimental::error {

using WEFT_NAMESPACE::error::channel_cancelled;
using WEFT_NAMESPACE::error::channel_closed;
using WEFT_NAMESPACE::error::channel_errors;
using WEFT_NAMESPACE::error::get_channel_category;
using WEFT_NAMESPACE::error::make_error_code;

}  // namespace WEFT_NAMESPACE::experimental::error
