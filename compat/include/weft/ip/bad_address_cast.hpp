// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/net/bad_address_cast.hpp>
