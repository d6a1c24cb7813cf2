// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_signal.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/coro/awaited_result.hpp>
#include <weft/coro/awaited_type.hpp>
#include <weft/coro/in_place_call.hpp>
#include <weft/coro/logical_thread.hpp>
#include <weft/execution/inline_executor.hpp>

namespace WEFT_NAMESPACE::detail {

/// Has a coroutine of a logical thread wait for an asynchronous operation: it starts it, with a
/// handler that resumes the coroutine, whose associated executor is the thread's.
///
/// `Thread` is a logical_thread, the base of them all, or what is like one.
///
/// While the operation is under way, its handler owns the logical thread: a handler that is
/// destroyed un-called destroys all coroutines of the chain. Once the operation is started, nothing
/// of the coroutine is touched here, for it may go on, and end, on another thread.
template <class Operation, class Thread>
class operation_awaiter {
  using signatures = operation_signatures_t<Operation>;
  static_assert(
      requires { typename only_signature<signatures>::type; },
      "co_await takes operations with one completion signature; give this one a handler");
  using results = awaited_results_t<typename only_signature<signatures>::type>;
  using outcome = in_place_call::outcome;

 public:
  template <class O>
  operation_awaiter(O&& operation, Thread& thread)
      : operation_(std::forward<O>(operation)), thread_(thread) {}

  bool await_ready() const noexcept { return false; }

  // It must not be inlined: its variables would be kept in the coroutine's frame.
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<>) {
    Thread& thread = thread_;
    const in_place_call call;
    call_ = call.get_name();
    bool has_handler = false;
    waits(thread);
    try {
      Operation operation(std::forward<Operation>(operation_));
      handler h_(*this);
      has_handler = true;
      std::move(operation)(std::move(h_));
    } catch (...) {
      // An initiating function that throws and has kept its handler has started the operation all
      // the same, and will complete it. One that has called it has failed after that.
      if (!has_handler || call.result() != outcome::pending) {
        goes_on(thread);
        error_ = std::current_exception();
        return false;
      }
    }
    switch (call.result()) {
      case outcome::pending: return true;
      case outcome::dropped: thread.destroy(); return true;
      case outcome::completed: break;
    }
    goes_on(thread);
    return !thread.may_go_on() && thread.resume_later();
  }

  typename results::type await_resume() {
    if (error_) [[unlikely]]
      std::rethrow_exception(std::move(error_));
    return results_.get();
  }

 private:
  class handler {
   public:
    using executor_type = typename Thread::executor_type;
    using immediate_executor_type = inline_executor;  // what completes at once goes on at once
    using cancellation_slot_type = cancellation_slot;
    using allocator_type = typename Thread::allocator_type;

    explicit handler(operation_awaiter& awaiter) noexcept : awaiter_(&awaiter) {}
    handler(handler&& other) noexcept : awaiter_(std::exchange(other.awaiter_, nullptr)) {}
    handler& operator=(handler&&) = delete;
    ~handler() {
      if (awaiter_)
        awaiter_->dropped();
    }

    decltype(auto) get_executor() const noexcept { return awaiter_->thread_.get_executor(); }
    immediate_executor_type get_immediate_executor() const noexcept { return {}; }
    cancellation_slot_type get_cancellation_slot() const noexcept {
      return awaiter_->thread_.get_cancellation_slot();
    }
    allocator_type get_allocator() const noexcept { return awaiter_->thread_.get_allocator(); }

    template <class... Args>
    void operator()(Args&&... args) {
      operation_awaiter& awaiter = *std::exchange(awaiter_, nullptr);
      try {
        awaiter.results_.set(std::forward<Args>(args)...);
      } catch (...) {
        awaiter.error_ = std::current_exception();
      }
      awaiter.completed();
    }

   private:
    operation_awaiter* awaiter_;
  };

  static void waits(Thread& thread) noexcept {
    if constexpr (std::is_base_of_v<task_record, Thread>)
      thread.waits(awaited_type_text<Operation>());
  }
  static void goes_on(Thread& thread) noexcept {
    if constexpr (std::is_base_of_v<task_record, Thread>)
      thread.goes_on();
  }

  void completed() {
    if (!in_place_call::ended(call_, outcome::completed)) [[likely]]
      thread_.resume();
  }
  void dropped() noexcept {
    if (!in_place_call::ended(call_, outcome::dropped))
      thread_.destroy();
  }

  [[no_unique_address]] Operation operation_;
  Thread& thread_;
  in_place_call::name call_{};
  std::exception_ptr error_;
  [[no_unique_address]] results results_;
};

}  // namespace WEFT_NAMESPACE::detail
