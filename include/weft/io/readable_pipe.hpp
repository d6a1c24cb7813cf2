// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_readable_pipe.hpp>

namespace WEFT_NAMESPACE {

/// The usual readable pipe.
using readable_pipe = basic_readable_pipe<>;

}  // namespace WEFT_NAMESPACE
