// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_random_access_file.hpp>

namespace WEFT_NAMESPACE {

/// The usual random access file.
using random_access_file = basic_random_access_file<>;

}  // namespace WEFT_NAMESPACE
