// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <weft/io/basic_waitable_timer.hpp>

namespace WEFT_NAMESPACE {

/// A timer over the clock that never goes back and is never set: the one for timeouts and delays.
using steady_timer = basic_waitable_timer<std::chrono::steady_clock>;

}  // namespace WEFT_NAMESPACE
