// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/network_v6.hpp>
