// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>

namespace boost {
using std::array;
}
