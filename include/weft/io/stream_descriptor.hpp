// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_stream_descriptor.hpp>

namespace WEFT_NAMESPACE::posix {

/// The usual stream descriptor.
using stream_descriptor = basic_stream_descriptor<>;

}  // namespace WEFT_NAMESPACE::posix
