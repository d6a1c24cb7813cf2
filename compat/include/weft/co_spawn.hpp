// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/coro/co_spawn.hpp>
