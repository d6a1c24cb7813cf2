// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE::detail {

/// An asynchronous operation with its handler: `Base` says what is done and holds the results;
/// this class adds who hears of it, and ends it by these rules.
///   1. The handler runs in its associated executor. If that is the native executor of the very
///      context that runs the operation, the call is direct; otherwise it goes by `dispatch`.
///   2. Inside that executor, `Base::take_results()` is called as the last thing before the memory
///      is freed: there a wait claims its success or learns that a cancel has won.
///   3. The cancellation slot is cleared before the memory is freed, so that a concurrent `emit`
///      never reaches a freed operation.
///   4. The memory goes back to the associated allocator before the handler is called.
///
/// `Base` derives from operation, has a constructor (function, args...), `scheduler& owner() const`
/// (the scheduler whose threads complete it) and `std::tuple<...> take_results()`.
template <class Base, class Handler, class IoExecutor>
class handler_operation final : public Base {
  using allocator_type = associated_allocator_t<Handler>;
  using executor_type = associated_executor_t<Handler, IoExecutor>;
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
        work_(get_associated_executor(handler, io_executor)),
        handler_(std::move(handler)) {}

  ~handler_operation() { disconnect(); }

  Handler& handler() noexcept { return handler_; }

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
  /// executor of the handler, and from there in its own executor if it has one.
  static void complete_immediately(handler_operation* self, const IoExecutor& io_executor) {
    memory op(self, get_associated_allocator(self->handler_));
    auto executor = get_associated_immediate_executor(self->handler_, io_executor);
    const allocator_type allocator(get_associated_allocator(self->handler_));
    if constexpr (requires { typename associated_executor<Handler, IoExecutor>::is_unassociated; })
      executor_dispatch(executor, completion(std::move(op)), allocator);
    else
      executor_dispatch(executor, redispatch(std::move(op)), allocator);
  }

 private:
  class completion {
   public:
    explicit completion(memory op) noexcept : op_(std::move(op)) {}
    completion(completion&&) noexcept = default;
    void operator()() { finish(std::move(op_)); }

   private:
    memory op_;
  };

  class redispatch {
   public:
    explicit redispatch(memory op) noexcept : op_(std::move(op)) {}
    redispatch(redispatch&&) noexcept = default;
    void operator()() { dispatch(std::move(op_)); }

   private:
    memory op_;
  };

  static void dispatch(memory op) {
    const allocator_type allocator(get_associated_allocator(op->handler_));
    auto work(std::move(op->work_));
    executor_dispatch(work.get_executor(), completion(std::move(op)), allocator);
  }

  static void complete(operation* base, operation::action what) {
    auto* self = static_cast<handler_operation*>(base);
    memory op(self, get_associated_allocator(self->handler_));
    if (what == operation::action::destroy)
      return;
    if (native_scheduler(self->work_.get_executor()) == &self->owner())
      finish(std::move(op));
    else
      dispatch(std::move(op));
  }

  static void finish(memory op) {
    op->disconnect();
    auto results = op->take_results();
    auto work(std::move(op->work_));
    Handler handler(std::move(op->handler_));
    op.reset();
    std::apply(std::move(handler), std::move(results));
  }

  void disconnect() noexcept {
    if (connected_) {
      connected_ = false;
      get_associated_cancellation_slot(handler_).clear();
    }
  }

  bool connected_ = false;
  [[no_unique_address]] completion_work<executor_type> work_;
  [[no_unique_address]] Handler handler_;
};

}  // namespace WEFT_NAMESPACE::detail
