// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_signal_set.hpp>

namespace WEFT_NAMESPACE {

/// A signal set with the polymorphic executor.
using signal_set = basic_signal_set<>;

}  // namespace WEFT_NAMESPACE
