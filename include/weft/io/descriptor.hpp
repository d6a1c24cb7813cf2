// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_descriptor.hpp>

namespace WEFT_NAMESPACE::posix {

/// The usual descriptor.
using descriptor = basic_descriptor<>;

}  // namespace WEFT_NAMESPACE::posix
