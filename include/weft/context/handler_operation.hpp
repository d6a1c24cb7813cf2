// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <memory>
#include <tuple>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/base/operation_function.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/base/operation_origin.hpp>
#include <weft/context/handover.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE::detail {

/// An asynchronous operation with its handler: `Base` says what is done and holds the results;
/// this class adds who hears of it, and ends it by these rules.
///   1. The handler runs in its associated executor. If that is the native executor of the very
///      context that runs the operation, the call is direct; otherwise it goes by `dispatch`, as an
///      operation_function, for which weft's own executors need no memory.
///   2. An executor that throws instead of taking the operation does not end it: what it has thrown
///      leaves `run()`, and the operation, queued once more, is offered again.
///   3. Inside the handler's executor, `Base::take_results()` is called as the last thing before
///      the memory is freed: there a wait claims its success or learns that a cancel has won.
///   4. The cancellation slot is cleared in one step with that, so that a concurrent `emit` never
///      reaches a freed operation, and never comes between the slot and the claim.
///   5. The memory goes back to the associated allocator before the handler is called.
///
/// `Base` derives from operation, has a constructor (function, args...), `scheduler& owner() const`
/// (the scheduler whose threads complete it) and `std::tuple<...> take_results()`.
template <class Base, class Handler, class IoExecutor>
class handler_operation final : public Base {
  using allocator_type = associated_allocator_t<Handler>;
  using executor_type = associated_executor_t<Handler, IoExecutor>;
  using action = operation::action;
  using function = operation::function;
  using memory = operation_owner<handler_operation, allocator_type>;

 public:
  /// Makes the operation in memory of the handler's allocator. Throws what that, or moving the
  /// handler, throws.
  template <class H, class... Args>
  static memory create(H& handler, const IoExecutor& io_executor, Args&&... args) {
    const allocator_type allocator(get_associated_allocator(handler));
    return memory(std::in_place, allocator, handler, io_executor, std::forward<Args>(args)...);
  }

  template <class H, class... Args>
  handler_operation(H& handler, const IoExecutor& io_executor, Args&&... args)
      : Base(&complete, std::forward<Args>(args)...),
        work_(get_associated_executor(handler, io_executor), this->owner()),
        handler_(std::move(handler)) {
    note_start(this);
  }

  ~handler_operation() { disconnect(); }

  Handler& handler() noexcept { return handler_; }

  /// Whether the handler has a cancellation slot to answer.
  bool is_cancellable() const noexcept {
    return get_associated_cancellation_slot(handler_).is_connected();
  }

  /// Lets `Canceller(args...)`, called with the cancellation_type, answer the handler's slot. Call
  /// it before the operation is started.
  template <class Canceller, class... Args>
  void connect(Args&&... args) {
    auto slot = get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) {
      slot.template emplace<Canceller>(std::forward<Args>(args)...);
      connected_ = true;
    }
  }

  /// Ends an operation that finished inside its initiating function, by way of the immediate
  /// executor of the handler, and from there in its own executor if it has one. If the immediate
  /// executor refuses, the operation completes as others do.
  static void complete_immediately(handler_operation* self, const IoExecutor& io_executor) {
    memory op(self, get_associated_allocator(self->handler_));
    auto executor = get_associated_immediate_executor(self->handler_, io_executor);
    function next = &redispatch;
    if constexpr (requires { typename associated_executor<Handler, IoExecutor>::is_unassociated; })
      next = &arrive;
    op.release();
    if (offer(self, executor, next))
      self->complete_again();
  }

 private:
  /// Gives the operation to an executor, which is to end it by `next`. Returns what the executor
  /// threw if it has refused: the operation is the caller's then. Throws what the handler throws.
  template <class Executor>
  static std::exception_ptr offer(handler_operation* self, const Executor& executor,
                                  function next) {
    const allocator_type allocator(get_associated_allocator(self->handler_));
    self->ends_by(next);
    handover given(self);
    try {
      executor_dispatch(executor, operation_function(self), allocator);
    } catch (...) {
      if (given.is_returned())
        return std::current_exception();
      throw;
    }
    if (given.is_returned())
      memory(self, allocator).reset();
    return nullptr;
  }

  /// Offers the operation to the handler's executor, which is not its scheduler's. If that refuses,
  /// it is queued again with its scheduler, to be offered anew; returns what was thrown.
  [[gnu::noinline]] static std::exception_ptr dispatch(memory op) {
    handler_operation* const self = op.release();
    const scheduler& owner = self->owner();
    auto work(std::move(self->work_));
    std::exception_ptr refusal = offer(self, *work.elsewhere(owner), &arrive);
    if (refusal) {
      std::destroy_at(&self->work_);
      std::construct_at(&self->work_, std::move(work));
      self->complete_again();
    }
    return refusal;
  }

  void complete_again() noexcept {
    this->ends_by(&complete);
    scheduler_post(this->owner(), this);
  }

  /// Ends the operation on a thread of its scheduler.
  static void complete(operation* base, action what) {
    if (what != action::invoke) [[unlikely]]
      return dismiss(base, what);
    auto* self = static_cast<handler_operation*>(base);
    memory op(self, get_associated_allocator(self->handler_));
    if (!self->work_.elsewhere(self->owner())) [[likely]]
      finish(std::move(op));
    else if (const std::exception_ptr refusal = dispatch(std::move(op)))
      std::rethrow_exception(refusal);
  }

  static void dismiss(operation* base, action what) noexcept {
    if (what == action::describe)
      return operation::describe<Handler>(base, true);
    auto* self = static_cast<handler_operation*>(base);
    memory(self, get_associated_allocator(self->handler_)).reset();
  }

  /// Ends it in the handler's executor.
  static void arrive(operation* base, action what) {
    if (what == action::describe)
      return operation::describe<Handler>(base, true);
    if (memory op = receive(base, what); op.get()) {
      const auto work(std::move(op->work_));
      finish(std::move(op));
    }
  }

  /// Ends it in the immediate executor of a handler that has another one of its own. What that one
  /// throws is for `run()` to throw, if it refuses again: the initiating function has done its
  /// part.
  static void redispatch(operation* base, action what) {
    if (what == action::describe)
      return operation::describe<Handler>(base, true);
    memory op = receive(base, what);
    if (!op.get())
      return;
    if (op->work_.elsewhere(op->owner()))
      dispatch(std::move(op));
    else if (scheduler_running_in_this_thread(op->owner()))
      finish(std::move(op));
    else
      op.release()->complete_again();
  }

  /// The operation, if an executor calls it.
  static memory receive(operation* base, action what) noexcept {
    auto* self = static_cast<handler_operation*>(base);
    memory op(self, get_associated_allocator(self->handler_));
    if (what == action::invoke) {
      handover::called(self);
    } else if (handover::destroyed(self)) {
      op.release();
    } else {
      op.reset();
    }
    return op;
  }

  static void finish(memory op) {
    auto results = op->settle();
    Handler handler(std::move(op->handler_));
    op.reset();
    std::apply(std::move(handler), std::move(results));
  }

  /// Takes the results, out of the slot's reach: an `emit` has either returned before, and then a
  /// wait knows of it, or finds the slot empty when the wait is claimed.
  auto settle() {
    if (is_connected()) {
      const slot_lock lock(get_associated_cancellation_slot(handler_));
      disconnect();
      return this->take_results();
    }
    return this->take_results();
  }

  void disconnect() noexcept {
    if (is_connected()) {
      connected_ = false;
      get_associated_cancellation_slot(handler_).clear();
    }
  }

  /// Known to the compiler of handlers that have no slot.
  bool is_connected() const noexcept {
    if constexpr (requires { typename associated_cancellation_slot<Handler>::is_unassociated; })
      return false;
    else
      return connected_;
  }

  bool connected_ = false;
  completion_work<executor_type> work_;  // replaced as a whole: its address is its own
  [[no_unique_address]] Handler handler_;
};

}  // namespace WEFT_NAMESPACE::detail
