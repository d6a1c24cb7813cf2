// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/resolver.hpp>
#include <weft/net/udp.hpp>
