// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>

namespace boost {
using std::enable_shared_from_this;
}
