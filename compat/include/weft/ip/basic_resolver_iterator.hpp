// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/resolver_results.hpp>
