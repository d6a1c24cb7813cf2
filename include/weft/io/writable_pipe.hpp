// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/basic_writable_pipe.hpp>

namespace WEFT_NAMESPACE {

/// The usual writable pipe.
using writable_pipe = basic_writable_pipe<>;

}  // namespace WEFT_NAMESPACE
