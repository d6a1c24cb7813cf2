// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <weft/base/asymmetric_barrier.hpp>
#include <weft/base/atomics.hpp>
#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// The atomics seam with what the scheduler's protocols need besides. The model of the scheduler
/// compiles the shipping code over another struct of this name (tests/model/scheduler_test.cpp).
struct scheduler_atomics : std_atomics {
  using condition_variable = std::condition_variable;
  using clock = std::chrono::steady_clock;

  /// Operations a worker runs at most before it looks for events without sleeping, if any may come;
  /// if none may, among several, it looks again after worker::longest_turn at most.
  static constexpr unsigned poll_interval = 64;

  /// How many operations change hands at once.
  static constexpr std::size_t segment_limit = 128;

  static bool barriers_available() noexcept { return detail::asymmetric_barrier_available(); }
  static void light_barrier() noexcept { detail::light_barrier(); }
  static void heavy_barrier() noexcept { detail::heavy_barrier(); }
  static void expect_foreign_memory(std::uint32_t n) noexcept { thread_memory::expect_foreign(n); }
  static void yield() noexcept { std::this_thread::yield(); }
  /// A short rest, in a loop that waits for another thread.
  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb" ::: "memory");
#endif
  }
};

}  // namespace WEFT_NAMESPACE::detail
