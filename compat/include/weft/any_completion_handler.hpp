// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/any_completion_handler.hpp>
