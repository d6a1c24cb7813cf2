// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <type_traits>

#include <weft/base/atomics.hpp>
#include <weft/base/sharing_policy.hpp>

namespace WEFT_NAMESPACE::detail {

/// Counts the strong and the weak references to an object that any thread may use. Starts with one
/// strong reference. All strong ones together hold one weak reference: the object ends with the
/// last strong one, its memory with the last weak one.
template <class Atomics = std_atomics>
class basic_concurrent_count {
 public:
  /// For whoever holds a strong reference already.
  void add() noexcept { strong_.fetch_add(1, std::memory_order_relaxed); }

  /// For whoever holds a weak one: whether there was a strong one left, and is one more. It needs
  /// no order: the object was made before the weak reference was, and its end looks at the count.
  bool add_unless_ended() noexcept {
    std::size_t count = strong_.load(std::memory_order_relaxed);
    while (count != 0)
      if (strong_.compare_exchange_weak(count, count + 1, std::memory_order_relaxed,
                                        std::memory_order_relaxed))
        return true;
    return false;
  }

  /// Whether it was the last strong reference. Each releasing decrement pairs with the acquire of
  /// the last one, so that the object ends after every use.
  bool drop() noexcept { return strong_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  /// For whoever holds a reference of either kind.
  void add_weak() noexcept { weak_.fetch_add(1, std::memory_order_relaxed); }

  /// Whether it was the last reference of all: paired as in `drop`.
  bool drop_weak() noexcept { return weak_.fetch_sub(1, std::memory_order_acq_rel) == 1; }

  std::size_t strong() const noexcept { return strong_.load(std::memory_order_relaxed); }

 private:
  typename Atomics::template atomic<std::size_t> strong_{1};
  typename Atomics::template atomic<std::size_t> weak_{1};
};

/// The same for an object that one thread uses.
class local_count {
 public:
  void add() noexcept {
    thread_.lock();
    ++strong_;
  }
  bool add_unless_ended() noexcept {
    thread_.lock();
    if (strong_ == 0)
      return false;
    ++strong_;
    return true;
  }
  bool drop() noexcept {
    thread_.lock();
    return --strong_ == 0;
  }
  void add_weak() noexcept {
    thread_.lock();
    ++weak_;
  }
  bool drop_weak() noexcept {
    thread_.lock();
    return --weak_ == 0;
  }
  std::size_t strong() const noexcept { return strong_; }

 private:
  one_thread thread_;
  std::size_t strong_ = 1;
  std::size_t weak_ = 1;
};

template <class Policy>
using strong_count_t =
    std::conditional_t<Policy::is_concurrent, basic_concurrent_count<>, local_count>;

}  // namespace WEFT_NAMESPACE::detail
