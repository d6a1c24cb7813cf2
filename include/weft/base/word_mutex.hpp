// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/atomics.hpp>
#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

struct word_mutex_atomics : std_atomics {
  /// As the members of these names, of std::atomic.
  WEFT_API static void wait(const std::atomic<int>& word, int value) noexcept;
  WEFT_API static void notify_one(std::atomic<int>& word) noexcept;
};

/// A mutex of one word, for what is locked often and seldom contended: uncontended, lock and unlock
/// are one inlined atomic read-modify-write each. Waiting threads sleep. Not recursive, not fair.
///
/// Protocol: 0 free, 1 held, 2 held and perhaps waited for. Who finds it held stores 2 before it
/// sleeps, and when it wakes takes it as 2, for others may sleep still; so an unlock that finds 2
/// wakes one. The releasing exchange of `unlock` pairs with the acquiring one of the next owner.
template <class Atomics>
class basic_word_mutex {
 public:
  basic_word_mutex() = default;
  basic_word_mutex(const basic_word_mutex&) = delete;
  basic_word_mutex& operator=(const basic_word_mutex&) = delete;

  void lock() noexcept {
    int expected = 0;
    if (!state_.compare_exchange_strong(expected, 1, std::memory_order_acquire,
                                        std::memory_order_relaxed)) [[unlikely]]
      wait_and_lock();
  }
  void unlock() noexcept {
    if (state_.exchange(0, std::memory_order_release) == 2) [[unlikely]]
      Atomics::notify_one(state_);
  }

 private:
  [[gnu::noinline]] void wait_and_lock() noexcept {
    while (state_.exchange(2, std::memory_order_acquire) != 0)
      Atomics::wait(state_, 2);
  }

  typename Atomics::template atomic<int> state_{0};
};

using word_mutex = basic_word_mutex<word_mutex_atomics>;

}  // namespace WEFT_NAMESPACE::detail
