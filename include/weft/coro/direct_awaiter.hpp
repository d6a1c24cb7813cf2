// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_signal.hpp>
#include <weft/async/deferred.hpp>
#include <weft/base/operation_origin.hpp>
#include <weft/base/type_name.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/coro/awaited_result.hpp>
#include <weft/coro/logical_thread.hpp>
#include <weft/coro/operation_awaiter.hpp>

namespace WEFT_NAMESPACE::detail {

/// Has a coroutine of a logical thread wait for an operation of a direct_initiation. If the
/// thread's executor is native, the operation is here, in the coroutine's frame, and its owner is
/// the scheduler behind that executor, which resumes the coroutine; otherwise a handler waits.
///
/// What it is made of, the deferred operation, stays where it is until co_await has ended.
///
/// While the operation is pending, it owns the logical thread: one that is destroyed destroys all
/// coroutines of the chain, itself with them.
template <class Signature, class Initiation, class Thread>
class direct_awaiter {
  using base = typename Initiation::operation_type;
  using results = awaited_results_t<Signature>;
  using operation_type = deferred_async_operation<Signature, Initiation>;
  using handler_awaiter = operation_awaiter<operation_type, Thread>;
  static constexpr bool may_be_performed = requires(Initiation i) { i.try_perform(); };
  struct nothing {};
  using value =
      std::conditional_t<std::is_void_v<typename results::type>, nothing, typename results::type>;
  enum class stage : unsigned char { deferred, performed, waiting, handled };

 public:
  [[gnu::always_inline]] direct_awaiter(operation_type&& operation, Thread& thread) {
    if (!thread.native()) [[unlikely]] {
      std::construct_at(&handler_, std::move(operation), thread);
      stage_ = stage::handled;
    } else if constexpr (may_be_performed) {
      std::construct_at(&deferred_, thread, deferred_access::initiation(operation));
      stage_ = stage::deferred;
    } else {
      std::construct_at(&waiting_, thread, std::move(deferred_access::initiation(operation)));
      stage_ = stage::waiting;
    }
  }
  direct_awaiter(const direct_awaiter&) = delete;
  direct_awaiter& operator=(const direct_awaiter&) = delete;
  [[gnu::always_inline]] ~direct_awaiter() {
    switch (stage_) {
      case stage::deferred: break;
      case stage::performed: std::destroy_at(&performed_); break;
      case stage::waiting: std::destroy_at(&waiting_); break;
      case stage::handled: std::destroy_at(&handler_); break;
    }
  }

  [[gnu::always_inline]] bool await_ready() noexcept {
    if (stage_ == stage::handled) [[unlikely]]
      return false;
    if constexpr (may_be_performed) {
      return perform() && performed_.thread.may_go_on();
    } else {
      has_completed_ = completes_at_once(waiting_);
      return has_completed_ && waiting_.thread.may_go_on();
    }
  }

  bool await_suspend(std::coroutine_handle<> h) {
    if (stage_ == stage::handled) [[unlikely]]
      return handler_.await_suspend(h);
    if constexpr (may_be_performed) {
      if (stage_ == stage::performed)
        return performed_.thread.resume_later();
    } else {
      if (has_completed_)
        return waiting_.thread.resume_later();
    }
    return wait();
  }

  [[gnu::always_inline]] typename results::type await_resume() {
    if constexpr (may_be_performed) {
      if (stage_ == stage::performed) [[likely]]
        return take_value();
      if (stage_ == stage::waiting && waiting_.has_succeeded()) [[likely]]
        return waiting_.take_awaited();
    }
    return take_results();
  }

 private:
  class waiting final : public base {
   public:
    waiting(Thread& t, Initiation&& initiation)
        : base(&complete, *t.native(), std::move(initiation)), thread(t) {}

    Thread& thread;

   private:
    static void complete(operation* op, operation::action what) {
      if (what == operation::action::describe)
        return operation::describe<direct_awaiter>(op, true);
      Thread& thread = static_cast<waiting*>(op)->thread;
      if (what == operation::action::destroy)
        return thread.destroy();
      if (thread.cancellation.slot().is_connected()) [[unlikely]]
        disconnect(thread);
      thread.resume();
    }
  };
  struct deferred {
    deferred(Thread& t, Initiation& i) noexcept : thread(t), initiation(i) {}
    Thread& thread;
    Initiation& initiation;
  };
  struct performed {
    template <class... V>
    explicit performed(Thread& t, V&&... v) noexcept(std::is_nothrow_constructible_v<value, V...>)
        : thread(t), result(std::forward<V>(v)...) {}
    Thread& thread;
    [[no_unique_address]] value result;
  };

  bool start(Thread& thread) noexcept {
    thread.waits(type_text<Initiation>());
    if (waiting_.start())
      return true;
    thread.goes_on();
    return false;
  }

  typename results::type take_value() {
    if constexpr (!std::is_void_v<typename results::type>)
      return std::move(performed_.result);
  }

  /// Whether it has succeeded without an operation.
  [[gnu::always_inline]] bool perform() noexcept {
    Thread& thread = deferred_.thread;
    auto result = deferred_.initiation.try_perform();
    if (!result)
      return false;
    if constexpr (std::is_void_v<typename results::type>)
      std::construct_at(&performed_, thread);
    else
      std::construct_at(&performed_, thread, *std::move(result));
    stage_ = stage::performed;
    return true;
  }

  // Not inlined: their variables would be kept in the coroutine's frame.
  [[gnu::noinline]] bool wait() {
    if constexpr (may_be_performed) {
      const deferred from(deferred_);
      std::construct_at(&waiting_, from.thread, std::move(from.initiation));
      stage_ = stage::waiting;
    }
    Thread& thread = waiting_.thread;
    const bool is_pending =
        thread.cancellation.slot().is_connected() ? start_cancellable(thread) : start(thread);
    if (is_pending)
      return true;
    conclude_start(static_cast<base&>(waiting_));
    return !thread.may_go_on() && thread.resume_later();
  }
  [[gnu::noinline]] typename results::type take_results() {
    if (stage_ == stage::handled) [[unlikely]]
      return handler_.await_resume();
    results r;
    waiting_.take_results().give_to(
        [&](auto&&... values) { r.set(std::forward<decltype(values)>(values)...); });
    return r.get();
  }
  [[gnu::noinline]] bool start_cancellable(Thread& thread) {
    cancellation_slot slot = thread.cancellation.slot();
    const slot_lock lock(slot);
    waiting_.retain();
    slot.template emplace<operation_canceller<base>>(&waiting_);
    if (start(thread))
      return true;
    disconnect(thread);
    return false;
  }
  [[gnu::noinline]] static void disconnect(Thread& thread) noexcept {
    thread.cancellation.slot().clear();
  }

  union {
    deferred deferred_;
    performed performed_;
    waiting waiting_;
    handler_awaiter handler_;  // handled: the executor is not native
  };
  stage stage_;
  bool has_completed_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
