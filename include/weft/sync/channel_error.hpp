// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE::error {

/// Failures of channels.
enum channel_errors {
  channel_closed = 1,  ///< It has been closed; for who receives, nothing is left in it either.
  channel_cancelled,   ///< What operation_aborted is, in channels of namespace experimental.
  channel_lagged       ///< A receiver of a broadcast was too slow: values were overwritten.
};

WEFT_API const error_category& get_channel_category() noexcept;

inline error_code make_error_code(channel_errors e) noexcept {
  return {static_cast<int>(e), get_channel_category()};
}

}  // namespace WEFT_NAMESPACE::error

template <>
struct std::is_error_code_enum<WEFT_NAMESPACE::error::channel_errors> : std::true_type {};
