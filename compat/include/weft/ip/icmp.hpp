// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/icmp.hpp>
#include <weft/net/resolver.hpp>
