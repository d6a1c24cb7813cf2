// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/execution/inline_or_executor.hpp>
