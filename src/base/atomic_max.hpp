// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Makes the statistic the value, if it is less.
template <class T>
void raise_to(std::atomic<T>& statistic, T value) noexcept {
  T most = statistic.load(std::memory_order_relaxed);
  while (most < value && !statistic.compare_exchange_weak(most, value, std::memory_order_relaxed)) {
  }
}

}  // namespace WEFT_NAMESPACE::detail
