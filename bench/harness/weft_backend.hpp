// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/backend_kind.hpp>

#include "harness/run.hpp"

namespace bench {

/// The backend; throws kernel_lacks where it cannot be had.
inline weft::backend_kind available(weft::backend_kind kind) {
  if (!weft::backend_available(kind))
    throw kernel_lacks(weft::to_string(kind));
  return kind;
}

}  // namespace bench
