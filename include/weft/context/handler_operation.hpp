// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/base/operation_origin.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/context/operation_offer.hpp>

namespace WEFT_NAMESPACE::detail {

/// Whether the handler asks for an immediate completion by an executor of its own.
template <class Handler, class IoExecutor>
inline constexpr bool has_immediate_executor =
    !requires { typename associated_immediate_executor<Handler, IoExecutor>::is_unassociated; };

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
///   6. A handler whose move throws on a thread of the scheduler stays where it is: what it throws
///      leaves `run()`, and the operation, which has kept its results, is queued once more. In
///      another executor, which has let go of the operation, both are lost.
///   7. So it is if `Base::take_results()` throws, and `Base::keeps_results` says that it may be
///      called again then. Of others, results and handler are lost.
///
/// `Base` derives from operation, has a constructor (function, args...), `scheduler& owner() const`
/// (the scheduler whose threads complete it) and `operation_results<...> take_results()`. If it
/// touches its owner in its destructor, it has `void leave_owner() noexcept`, after which it no
/// longer does: called, perhaps again, before another executor gets it, with which it may outlive
/// the owner.
template <class Base, class Handler, class IoExecutor>
class handler_operation final : public Base {
  using allocator_type = associated_allocator_t<Handler>;
  using executor_type = associated_executor_t<Handler, IoExecutor>;
  using action = operation::action;
  using function = operation::function;
  using memory = operation_owner<handler_operation, allocator_type>;
  static constexpr bool has_slot =
      !requires { typename associated_cancellation_slot<Handler>::is_unassociated; };
  static constexpr bool keeps_results =
      requires { requires Base::keeps_results; } && std::is_nothrow_move_constructible_v<Handler>;

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

  ~handler_operation() { disconnect(handler_); }

  Handler& handler() noexcept { return handler_; }

  /// Whether the handler has a cancellation slot to answer.
  bool is_cancellable() const noexcept {
    if constexpr (has_slot)
      return get_associated_cancellation_slot(handler_).is_connected();
    else
      return false;
  }

  /// Lets `Canceller(args...)`, called with the cancellation_type, answer the handler's slot. Call
  /// it before the operation is started.
  template <class Canceller, class... Args>
  void connect([[maybe_unused]] Args&&... args) {
    if constexpr (has_slot) {
      auto slot = get_associated_cancellation_slot(handler_);
      if (slot.is_connected()) {
        slot.template emplace<Canceller>(std::forward<Args>(args)...);
        connected_ = true;
      }
    }
  }

  /// Ends an operation that finished inside its initiating function, by way of the immediate
  /// executor of the handler, and from there in its own executor if it has one. If the immediate
  /// executor refuses, the operation completes as others do.
  static void complete_immediately(handler_operation* self, const IoExecutor& io_executor) {
    const allocator_type allocator(get_associated_allocator(self->handler_));
    auto executor = get_associated_immediate_executor(self->handler_, io_executor);
    function next = &redispatch;
    if constexpr (requires { typename associated_executor<Handler, IoExecutor>::is_unassociated; })
      next = &arrive;
    if (offer(self, next, &complete, executor, allocator))
      self->complete_again();
  }

 private:
  [[gnu::noinline]] std::exception_ptr dispatch() {
    if constexpr (requires { this->leave_owner(); })
      this->leave_owner();
    const allocator_type allocator(get_associated_allocator(handler_));
    return offer_elsewhere(this, {&complete, &arrive}, work_, this->owner(), allocator);
  }

  void complete_again() noexcept {
    this->ends_by(&complete);
    scheduler_post(this->owner(), this);
  }

  /// Ends it on a thread of its scheduler.
  static void complete(operation* base, action what) {
    auto* self = static_cast<handler_operation*>(base);
    if (what != action::invoke) [[unlikely]]
      return dismiss(base, what);
    if (self->work_.elsewhere(self->owner())) [[unlikely]]
      return rethrow(self->dispatch());
    finish(self);
  }

  static void dismiss(operation* base, action what) noexcept {
    if (what == action::describe)
      return operation::describe<Handler>(base, true);
    auto* self = static_cast<handler_operation*>(base);
    self->disconnect(self->handler_);
    dismiss_operation(memory(self, get_associated_allocator(self->handler_)), self->handler_);
  }

  /// Ends it in the handler's executor.
  static void arrive(operation* base, action what) {
    if (!is_received(base, what))
      return;
    auto* self = static_cast<handler_operation*>(base);
    const auto work(std::move(self->work_));
    memory op(self, get_associated_allocator(self->handler_));
    Handler handler(std::move(self->handler_));
    call(op, handler, self->settle(handler));
  }

  /// Ends it in the immediate executor of a handler that has another one of its own. What that one
  /// throws is for `run()` to throw, if it refuses again: the initiating function has done its
  /// part.
  static void redispatch(operation* base, action what) {
    if (!is_received(base, what))
      return;
    auto* self = static_cast<handler_operation*>(base);
    if (self->work_.elsewhere(self->owner()))
      self->dispatch();
    else if (!keeps_results && scheduler_running_in_this_thread(self->owner()))
      finish(self);
    else
      self->complete_again();
  }

  /// Whether an executor calls the operation. If not, what was asked is done.
  static bool is_received(operation* base, action what) noexcept {
    if (what == action::invoke) {
      handover::called(base);
      return true;
    }
    if (what != action::destroy || !handover::destroyed(base))
      dismiss(base, what);
    return false;
  }

  [[gnu::noinline]] static void finish(handler_operation* self) {
    Handler handler(take_handler(self));
    memory op(self, get_associated_allocator(handler));
    call(op, handler, settle_or_keep(op, handler));
  }

  template <class Results>
  static void call(memory& op, Handler& handler, Results results) {
    op.reset();
    std::move(results).give_to(std::move(handler));
  }

  static Handler take_handler(handler_operation* self) {
    try {
      return Handler(std::move(self->handler_));
    } catch (...) {
      self->complete_again();
      throw;
    }
  }

  static auto settle_or_keep(memory& op, Handler& handler) {
    if constexpr (!keeps_results) {
      return op->settle(handler);
    } else {
      try {
        return op->settle(handler);
      } catch (...) {
        handler_operation* const self = op.release();
        if constexpr (!std::is_empty_v<Handler>) {
          std::destroy_at(&self->handler_);
          std::construct_at(&self->handler_, std::move(handler));
        }
        self->complete_again();
        throw;
      }
    }
  }

  /// Takes the results, out of the slot's reach: an `emit` has either returned before, and then a
  /// wait knows of it, or finds the slot empty when the wait is claimed.
  auto settle(const Handler& handler) {
    if constexpr (has_slot) {
      if (connected_) {
        const slot_lock lock(get_associated_cancellation_slot(handler));
        disconnect(handler);
        return this->take_results();
      }
    }
    return this->take_results();
  }

  void disconnect([[maybe_unused]] const Handler& handler) noexcept {
    if constexpr (has_slot) {
      if (connected_) {
        connected_ = false;
        get_associated_cancellation_slot(handler).clear();
      }
    }
  }

  bool connected_ = false;
  completion_work<executor_type> work_;  // replaced as a whole: its address is its own
  [[no_unique_address]] Handler handler_;
};

}  // namespace WEFT_NAMESPACE::detail
