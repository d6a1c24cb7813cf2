// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// A mutex of one word, for what is locked often and seldom contended: uncontended, lock and unlock
/// are one inlined atomic read-modify-write each. Waiting threads sleep. Not recursive, not fair.
///
/// Protocol: 0 free, 1 held, 2 held and perhaps waited for. Who finds it held stores 2 before it
/// sleeps, and when it wakes takes it as 2, for others may sleep still; so an unlock that finds 2
/// wakes one. The releasing exchange of `unlock` pairs with the acquiring one of the next owner.
class word_mutex {
 public:
  word_mutex() = default;
  word_mutex(const word_mutex&) = delete;
  word_mutex& operator=(const word_mutex&) = delete;

  void lock() noexcept {
    int expected = 0;
    if (!state_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]]
      wait_and_lock();
  }
  void unlock() noexcept {
    if (state_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
      wake();
  }

 private:
  WEFT_API void wait_and_lock() noexcept;
  WEFT_API void wake() noexcept;

  std::atomic<int> state_{0};
};

}  // namespace WEFT_NAMESPACE::detail
