// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/default_completion_token.hpp>
