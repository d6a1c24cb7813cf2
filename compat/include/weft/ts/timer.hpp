// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_waitable_timer.hpp>
#include <weft/io/high_resolution_timer.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/system_timer.hpp>
