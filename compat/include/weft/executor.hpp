// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/execution/polymorphic_executor.hpp>
