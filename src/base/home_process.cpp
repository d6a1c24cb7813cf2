// SPDX-License-Identifier: BSL-1.0
#include "base/home_process.hpp"

#include <pthread.h>

#include <atomic>

#include "base/fork_order.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

constinit std::atomic<unsigned> forks{0};

[[gnu::constructor(fork_memory)]] void count_forks() noexcept {
  ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
}

}  // namespace

unsigned fork_count() noexcept {
  return forks.load(std::memory_order_relaxed);
}

}  // namespace WEFT_NAMESPACE::detail
