// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/high_resolution_timer.hpp>
