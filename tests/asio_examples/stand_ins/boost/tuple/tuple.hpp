// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>

namespace boost {
using std::get;
using std::make_tuple;
using std::tie;
using std::tuple;
namespace tuples {
using std::ignore;
}
}  // namespace boost
