// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>

#include <weft/base/config.hpp>

/// Names for the arguments of a handler that is made by std::bind:
///     timer.async_wait(std::bind(&session::on_timer, this, placeholders::error));
/// A lambda does the same and compiles faster.
namespace WEFT_NAMESPACE::placeholders {

inline constexpr auto& error = std::placeholders::_1;
inline constexpr auto& bytes_transferred = std::placeholders::_2;
inline constexpr auto& endpoint = std::placeholders::_2;
inline constexpr auto& iterator = std::placeholders::_2;
inline constexpr auto& results = std::placeholders::_2;
inline constexpr auto& signal_number = std::placeholders::_2;

}  // namespace WEFT_NAMESPACE::placeholders
