// SPDX-License-Identifier: BSL-1.0
#include <weft/base/word_mutex.hpp>

namespace WEFT_NAMESPACE::detail {

void word_mutex::wait_and_lock() noexcept {
  while (state_.exchange(2, std::memory_order_acquire) != 0)
    state_.wait(2, std::memory_order_relaxed);
}

void word_mutex::wake() noexcept {
  state_.notify_one();
}

}  // namespace WEFT_NAMESPACE::detail
