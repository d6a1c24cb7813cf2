// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_stream_file.hpp>

namespace WEFT_NAMESPACE {

/// The usual stream file.
using stream_file = basic_stream_file<>;

}  // namespace WEFT_NAMESPACE
