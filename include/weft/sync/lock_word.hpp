// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <type_traits>

#include <weft/base/atomics.hpp>

namespace WEFT_NAMESPACE::detail {

/// Stands in for std_atomics where one thread uses them.
struct unshared_atomics {
  template <class T>
  class atomic {
   public:
    explicit atomic(T value) noexcept : value_(value) {}
    T load(std::memory_order) const noexcept { return value_; }
    void store(T value, std::memory_order) noexcept { value_ = value; }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order,
                                 std::memory_order) noexcept {
      const bool is_expected = value_ == expected;
      (is_expected ? value_ : expected) = is_expected ? desired : value_;
      return is_expected;
    }

   private:
    T value_;
  };
};

/// The atomics of a policy: of one that is a model's, its own.
template <class Policy>
struct policy_atomics
    : std::type_identity<std::conditional_t<Policy::is_concurrent, std_atomics, unshared_atomics>> {
};
template <class Policy>
  requires requires { typename Policy::atomics; }
struct policy_atomics<Policy> : std::type_identity<typename Policy::atomics> {};

/// Who has a mutex whose waiters stand in a queue under a lock of its own (of its core).
///
///   free -> held     anybody                                     acquires
///   held -> free     who has it: nobody waits                    releases
///   held -> waited   under the core's lock, by who then queues
///   waited -> held   under the core's lock: the last in the queue is handed the mutex
///   waited -> free   under the core's lock, by who has it: those who queued have been cancelled
///                    meanwhile                                   releases
/// So while it is `waited`, nobody changes it without the core's lock; and where that is free,
/// nobody is in the queue of one that is not. What a hand-over carries from one owner to the next
/// is ordered by the core's lock and by the queue of the scheduler. The releases pair with the
/// acquires of the next owner.
template <class Atomics>
class lock_word {
 public:
  bool try_lock() noexcept {
    int expected = is_free;
    return word_.compare_exchange_strong(expected, is_held, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }
  /// False: somebody waits, or did.
  bool try_unlock() noexcept {
    int expected = is_held;
    return word_.compare_exchange_strong(expected, is_free, std::memory_order_release,
                                         std::memory_order_relaxed);
  }
  bool is_locked() const noexcept { return word_.load(std::memory_order_relaxed) != is_free; }

  // ---- under the core's lock

  /// Takes the mutex if it is free: true. Otherwise its owner is told to look at the queue.
  bool lock_or_wait() noexcept {
    int seen = word_.load(std::memory_order_relaxed);
    while (seen != is_waited)
      if (word_.compare_exchange_strong(seen, seen == is_free ? is_held : is_waited,
                                        std::memory_order_acquire, std::memory_order_relaxed))
        return seen == is_free;
    return false;
  }
  /// Nobody is left in the queue behind its new owner.
  void become_unwaited() noexcept { word_.store(is_held, std::memory_order_relaxed); }
  void unlock() noexcept { word_.store(is_free, std::memory_order_release); }

 private:
  enum : int { is_free, is_held, is_waited };

  typename Atomics::template atomic<int> word_{is_free};
};

}  // namespace WEFT_NAMESPACE::detail
