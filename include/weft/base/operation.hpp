// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// What every queue of the engine holds: an intrusive node with one function pointer. The handler
/// and the results live behind it, in memory of the handler's allocator.
///
/// Whoever takes a node out of a queue ends it exactly once, by `invoke` (which frees the node and
/// then calls the handler) or by `destroy` (which frees both, the handler un-called).
class operation {
 public:
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  void invoke() { function_(this, action::invoke); }
  void destroy() noexcept { function_(this, action::destroy); }

 protected:
  enum class action : bool { destroy, invoke };
  using function = void (*)(operation*, action);

  explicit operation(function f) noexcept : function_(f) {}

  /// Changes how it is ended. Only for who holds it, while it is in no queue.
  void ends_by(function f) noexcept { function_ = f; }

  ~operation() = default;

 private:
  friend class operation_queue;

  operation* next_ = nullptr;
  function function_;
};

/// A first-in-first-out queue of operations. It owns them: those left at its end are destroyed.
/// Not thread-safe. Every member is O(1), but the destructor.
class operation_queue {
 public:
  operation_queue() = default;
  operation_queue(operation_queue&& other) noexcept { splice(other); }
  operation_queue& operator=(operation_queue&&) = delete;
  ~operation_queue() {
    while (operation* op = pop())
      op->destroy();
  }

  bool empty() const noexcept { return front_ == nullptr; }
  operation* front() const noexcept { return front_; }

  void push(operation* op) noexcept {
    op->next_ = nullptr;
    *(front_ ? &back_->next_ : &front_) = op;
    back_ = op;
  }

  /// The first operation, or null if there is none.
  operation* pop() noexcept {
    operation* op = front_;
    if (op)
      front_ = op->next_;
    return op;
  }

  /// Moves all of `other` to the end of this queue.
  void splice(operation_queue& other) noexcept {
    if (other.empty())
      return;
    *(front_ ? &back_->next_ : &front_) = other.front_;
    back_ = other.back_;
    other.front_ = nullptr;
  }

  /// Appends a chain of nodes already linked from `first` to `last`.
  void append(operation* first, operation* last) noexcept {
    last->next_ = nullptr;
    *(front_ ? &back_->next_ : &front_) = first;
    back_ = last;
  }

  /// The link of a node that is in no queue: a lock-free list threads itself through it.
  static operation*& next(operation* op) noexcept { return op->next_; }

 private:
  operation* front_ = nullptr;
  operation* back_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
