// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>

#include <weft/io/basic_waitable_timer.hpp>

namespace WEFT_NAMESPACE {

/// A timer over the time of day, which may be set: the one for appointments.
using system_timer = basic_waitable_timer<std::chrono::system_clock>;

}  // namespace WEFT_NAMESPACE
