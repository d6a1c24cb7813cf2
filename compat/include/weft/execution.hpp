// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/execution/any_executor.hpp>
#include <weft/execution/execute.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/properties.hpp>
