// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>

#include <weft/base/operation.hpp>

#include "context/scheduler/atomics.hpp"

namespace WEFT_NAMESPACE::detail {

/// Where threads leave operations for workers that are not their own. Lock-free for those who
/// push, wait-free for the one who drains.
///
/// Protocol: `head_` is a stack, last in first out, threaded through the operations. A push links
/// in front of the head it saw and publishes by compare-exchange; a drain takes the whole stack by
/// one exchange and turns it round, so operations come out in the order of their pushes. Nothing is
/// ever popped singly, hence no ABA.
///
/// Orders: push is seq_cst and `empty` may be, because with the count of sleepers
/// (scheduler::idle_) they form a store-load pair: whoever pushes and then sees no sleeper is seen
/// by the worker that counts itself asleep and then looks here. The exchange in `drain` acquires
/// what pushes released; whoever only asks whether to drain needs no order.
template <class Atomics = scheduler_atomics>
class basic_inbox {
 public:
  basic_inbox() = default;
  basic_inbox(const basic_inbox&) = delete;
  basic_inbox& operator=(const basic_inbox&) = delete;
  ~basic_inbox() {
    for (operation* op = drain().first; op;)
      std::exchange(op, operation_queue::next(op))->destroy();
  }

  /// Whether it was empty before.
  bool push(operation* op) noexcept {
    operation* head = head_.load(std::memory_order_relaxed);
    do {
      operation_queue::next(op) = head;
    } while (!head_.compare_exchange_weak(head, op, std::memory_order_seq_cst,
                                          std::memory_order_relaxed));
    return head == nullptr;
  }

  bool empty(std::memory_order order = std::memory_order_relaxed) const noexcept {
    return head_.load(order) == nullptr;
  }

  /// Operations linked from the first to the last, which is linked to none.
  struct chain {
    operation* first = nullptr;
    operation* last = nullptr;
    std::size_t size = 0;
  };

  /// Takes out all that is here. O(n).
  chain drain() noexcept {
    operation* op = head_.exchange(nullptr, std::memory_order_acquire);
    chain taken{nullptr, op, 0};
    while (op) {
      operation* const rest = operation_queue::next(op);
      operation_queue::next(op) = taken.first;
      taken.first = op;
      ++taken.size;
      op = rest;
    }
    return taken;
  }

 private:
  typename Atomics::template atomic<operation*> head_{nullptr};
};

using inbox = basic_inbox<>;

}  // namespace WEFT_NAMESPACE::detail
