// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <thread>

#include <weft/base/atomics.hpp>

#include "context/scheduler/asymmetric_barrier.hpp"

namespace WEFT_NAMESPACE::detail {

/// The atomics seam with what the scheduler's protocols need besides.
struct scheduler_atomics : std_atomics {
  static void light_barrier() noexcept { detail::light_barrier(); }
  static void heavy_barrier() noexcept { detail::heavy_barrier(); }
  static void yield() noexcept { std::this_thread::yield(); }
};

}  // namespace WEFT_NAMESPACE::detail
