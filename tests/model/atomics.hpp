// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "model/checker/atomic.hpp"
#include "model/checker/mutex.hpp"

namespace model {

/// The checker's side of the atomics seam (weft/base/atomics.hpp).
struct atomics {
  template <class T>
  using atomic = model::atomic<T>;
  using mutex = model::mutex;
};

}  // namespace model
