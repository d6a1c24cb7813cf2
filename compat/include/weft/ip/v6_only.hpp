// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/v6_only.hpp>
