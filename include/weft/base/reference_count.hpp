// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/atomics.hpp>

namespace WEFT_NAMESPACE::detail {

/// Counts the references to an object that its last user destroys. Starts at one, unless told
/// otherwise.
template <class Atomics = std_atomics>
class basic_reference_count {
 public:
  basic_reference_count() = default;
  explicit basic_reference_count(std::size_t count) noexcept : count_(count) {}

  /// For whoever holds a reference already.
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }

  /// Whether it was the last reference. Each releasing decrement pairs with an acquire of the last
  /// one, so that the object is destroyed after every use. Who finds that it has the only reference
  /// needs no decrement.
  bool drop() noexcept {
    return count_.load(std::memory_order_acquire) == 1 ||
           count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

 private:
  typename Atomics::template atomic<std::size_t> count_{1};
};

using reference_count = basic_reference_count<>;

}  // namespace WEFT_NAMESPACE::detail
