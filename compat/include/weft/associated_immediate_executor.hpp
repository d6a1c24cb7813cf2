// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/associated_immediate_executor.hpp>
