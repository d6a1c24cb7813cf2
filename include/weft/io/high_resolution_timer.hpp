// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <weft/io/basic_waitable_timer.hpp>

namespace WEFT_NAMESPACE {

/// A timer over the clock with the shortest period, which is the system clock or the steady one.
using high_resolution_timer = basic_waitable_timer<std::chrono::high_resolution_clock>;

}  // namespace WEFT_NAMESPACE
