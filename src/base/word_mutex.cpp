// SPDX-License-Identifier: BSL-1.0
#include <weft/base/word_mutex.hpp>

namespace WEFT_NAMESPACE::detail {

void word_mutex_atomics::wait(const std::atomic<int>& word, int value) noexcept {
  word.wait(value, std::memory_order_relaxed);
}

void word_mutex_atomics::notify_one(std::atomic<int>& word) noexcept {
  word.notify_one();
}

}  // namespace WEFT_NAMESPACE::detail
