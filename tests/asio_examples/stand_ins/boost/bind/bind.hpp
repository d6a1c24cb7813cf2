// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <functional>

namespace boost {
using std::bind;
using std::ref;
namespace placeholders = std::placeholders;
}  // namespace boost
