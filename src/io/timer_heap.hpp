// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/io/timer_core.hpp>

namespace WEFT_NAMESPACE::detail {

/// The pending waits of one clock, the earliest first: a pairing heap whose nodes are the waits
/// themselves. `push` and `front` are O(1), `remove` is O(log n) amortised (O(1) for a wait that
/// has no later one below it, as most that are armed and cancelled again). Nothing allocates.
template <class Traits>
class basic_timer_heap {
  using wait_operation = typename Traits::wait_operation;

 public:
  bool empty() const noexcept { return root_ == nullptr; }
  wait_operation* front() const noexcept { return root_; }

  /// Whether `a` is to expire before `b`. A total order: equal expiries by their start.
  static bool before(const wait_operation* a, const wait_operation* b) noexcept {
    return a->expiry_ != b->expiry_ ? a->expiry_ < b->expiry_ : a->sequence_ < b->sequence_;
  }

  void push(wait_operation* op) noexcept {
    op->heap_prev_ = op->heap_next_ = op->heap_child_ = nullptr;
    root_ = merge(root_, op);
  }

  void remove(wait_operation* op) noexcept {
    wait_operation* const below = merge_siblings(std::exchange(op->heap_child_, nullptr));
    if (op == root_) {
      root_ = below;
      return;
    }
    if (op->heap_prev_->heap_child_ == op)
      op->heap_prev_->heap_child_ = op->heap_next_;
    else
      op->heap_prev_->heap_next_ = op->heap_next_;
    if (op->heap_next_)
      op->heap_next_->heap_prev_ = op->heap_prev_;
    root_ = merge(root_, below);
  }

 private:
  /// Makes one heap of two roots, either of which may be null.
  static wait_operation* merge(wait_operation* a, wait_operation* b) noexcept {
    if (!a || !b)
      return a ? a : b;
    if (before(b, a))
      std::swap(a, b);
    b->heap_prev_ = a;
    b->heap_next_ = a->heap_child_;
    if (a->heap_child_)
      a->heap_child_->heap_prev_ = b;
    a->heap_child_ = b;
    return a;
  }

  /// Makes one heap of a chain of siblings: first in pairs from the left, then all into one from
  /// the right. That order is what makes the cost logarithmic.
  static wait_operation* merge_siblings(wait_operation* first) noexcept {
    wait_operation* pairs = nullptr;
    while (first) {
      wait_operation* const a = first;
      wait_operation* const b = a->heap_next_;
      first = b ? b->heap_next_ : nullptr;
      a->heap_prev_ = a->heap_next_ = nullptr;
      if (b)
        b->heap_prev_ = b->heap_next_ = nullptr;
      wait_operation* const pair = merge(a, b);
      pair->heap_next_ = pairs;
      pairs = pair;
    }
    wait_operation* root = nullptr;
    while (pairs) {
      wait_operation* const pair = pairs;
      pairs = std::exchange(pair->heap_next_, nullptr);
      root = merge(root, pair);
    }
    return root;
  }

  wait_operation* root_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
