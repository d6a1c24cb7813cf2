// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <utility>

#include <weft/io/timer_core.hpp>

namespace WEFT_NAMESPACE::detail {

/// Waits, the earliest first: a pairing heap whose nodes are the waits themselves. `push` and
/// `front` are O(1), `remove` is O(log n) amortised. Nothing allocates.
class timer_heap {
 public:
  bool empty() const noexcept { return root_ == nullptr; }
  timer_entry* front() const noexcept { return root_; }

  void push(timer_entry* e) noexcept {
    e->sequence_ = ++pushed_;
    e->previous_ = e->following_ = nullptr;
    e->child_ = nullptr;
    root_ = merge(root_, e);
  }

  void remove(timer_entry* e) noexcept {
    timer_entry* const below = merge_siblings(std::exchange(e->child_, nullptr));
    if (e == root_) {
      root_ = below;
      return;
    }
    if (entry(e->previous_)->child_ == e)
      entry(e->previous_)->child_ = entry(e->following_);
    else
      e->previous_->following_ = e->following_;
    if (e->following_)
      e->following_->previous_ = e->previous_;
    root_ = merge(root_, below);
  }

 private:
  /// A total order: equal expiries as they were pushed.
  static bool before(const timer_entry* a, const timer_entry* b) noexcept {
    return a->expiry_ != b->expiry_ ? a->expiry_ < b->expiry_ : a->sequence_ < b->sequence_;
  }

  /// The links of a node: `previous_` is the sibling before, or of the first child the parent.
  static timer_entry* entry(timer_link* link) noexcept { return static_cast<timer_entry*>(link); }

  /// Makes one heap of two roots, either of which may be null.
  static timer_entry* merge(timer_entry* a, timer_entry* b) noexcept {
    if (!a || !b)
      return a ? a : b;
    if (before(b, a))
      std::swap(a, b);
    b->previous_ = a;
    b->following_ = a->child_;
    if (a->child_)
      a->child_->previous_ = b;
    a->child_ = b;
    return a;
  }

  /// Makes one heap of a chain of siblings: first in pairs from the left, then all into one from
  /// the right. That order is what makes the cost logarithmic.
  static timer_entry* merge_siblings(timer_entry* first) noexcept {
    timer_entry* pairs = nullptr;
    while (first) {
      timer_entry* const a = first;
      timer_entry* const b = entry(a->following_);
      first = b ? entry(b->following_) : nullptr;
      a->previous_ = a->following_ = nullptr;
      if (b)
        b->previous_ = b->following_ = nullptr;
      timer_entry* const pair = merge(a, b);
      pair->following_ = pairs;
      pairs = pair;
    }
    timer_entry* root = nullptr;
    while (pairs) {
      timer_entry* const pair = pairs;
      pairs = entry(std::exchange(pair->following_, nullptr));
      root = merge(root, pair);
    }
    return root;
  }

  timer_entry* root_ = nullptr;
  std::uint64_t pushed_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
