// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/system_context.hpp>
#include <weft/execution/system_executor.hpp>
