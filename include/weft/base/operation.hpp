// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>
#include <weft/base/type_name.hpp>

namespace WEFT_NAMESPACE::detail {

/// What every queue of the engine holds: an intrusive node with one function pointer. The handler
/// and the results live behind it, in memory of the handler's allocator.
///
/// Whoever takes a node out of a queue ends it exactly once, by `invoke` (which frees the node and
/// then calls the handler) or by `destroy` (which frees both, the handler un-called).
///
/// The function also tells of which type the handler is: given an operation_description in place of
/// an operation, it fills that in. So who only remembers the function knows what it runs, long
/// after the operation is gone.
class operation {
 protected:
  enum class action : unsigned char { destroy, invoke, describe };

 public:
  using function = void (*)(operation*, action);

  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  void invoke() { function_(this, action::invoke); }
  void destroy() noexcept { function_(this, action::destroy); }

  function ending() const noexcept { return function_; }

 protected:
  explicit operation(function f) noexcept : function_(f) {}

  /// The answer to action::describe: operations with handlers of this type; and whether they are
  /// started, and completed later, rather than queued as soon as they are made.
  template <class Handler>
  static void describe(operation* answer, bool is_started = false) noexcept;

  /// Changes how it is ended. Only for who holds it, while it is in no queue.
  void ends_by(function f) noexcept { function_ = f; }

  ~operation() = default;

 private:
  friend class operation_queue;
  friend class operation_description;
  friend class handover;

  operation* next_ = nullptr;
  function function_;
};

/// What an operation's function tells.
class operation_description final : private operation {
 public:
  explicit operation_description(function f) noexcept : operation(f) { f(this, action::describe); }

  /// The type_text of the handler's type.
  const char* handler() const noexcept { return handler_; }
  /// Whether the operation is started, and completed later.
  bool is_started() const noexcept { return is_started_; }

 private:
  friend class operation;

  const char* handler_ = "";
  bool is_started_ = false;
};

template <class Handler>
void operation::describe(operation* answer, bool is_started) noexcept {
  auto* const self = static_cast<operation_description*>(answer);
  self->handler_ = type_text<Handler>();
  self->is_started_ = is_started;
}

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
