// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <thread>

#include <weft/base/atomics.hpp>

#include "context/scheduler/asymmetric_barrier.hpp"

namespace WEFT_NAMESPACE::detail {

/// The atomics seam with what the scheduler's protocols need besides. The model of the scheduler
/// compiles all of it with another file in this one's place (tests/model/scheduler/).
struct scheduler_atomics : std_atomics {
  using condition_variable = std::condition_variable;
  using clock = std::chrono::steady_clock;

  static bool barriers_available() noexcept { return detail::asymmetric_barrier_available(); }
  static void light_barrier() noexcept { detail::light_barrier(); }
  static void heavy_barrier() noexcept { detail::heavy_barrier(); }
  static void yield() noexcept { std::this_thread::yield(); }
};

}  // namespace WEFT_NAMESPACE::detail
