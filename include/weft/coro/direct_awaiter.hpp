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
  [[gnu::always_inline]] direct_awaiter(operation_type&& operation, Thread& thread)
      : thread_(thread) {
    if (!thread.native()) [[unlikely]] {
      std::construct_at(&handler_, std::move(operation), thread);
      stage_ = stage::handled;
    } else if constexpr (may_be_performed) {
      initiation_ = &deferred_access::initiation(operation);
      stage_ = stage::deferred;
    } else {
      std::construct_at(&waiting_, *this, *thread.native(),
                        std::move(deferred_access::initiation(operation)));
      stage_ = stage::waiting;
    }
  }
  direct_awaiter(const direct_awaiter&) = delete;
  direct_awaiter& operator=(const direct_awaiter&) = delete;
  [[gnu::always_inline]] ~direct_awaiter() {
    switch (stage_) {
      case stage::deferred: break;
      case stage::performed: std::destroy_at(&value_); break;
      case stage::waiting: std::destroy_at(&waiting_); break;
      case stage::handled: std::destroy_at(&handler_); break;
    }
  }

  [[gnu::always_inline]] bool await_ready() noexcept {
    if (stage_ == stage::handled) [[unlikely]]
      return false;
    if constexpr (may_be_performed) {
      return perform() && thread_.may_go_on();
    } else {
      has_completed_ = completes_at_once(waiting_);
      return has_completed_ && thread_.may_go_on();
    }
  }

  bool await_suspend(std::coroutine_handle<> h) {
    if (stage_ == stage::handled) [[unlikely]]
      return handler_.await_suspend(h);
    if (stage_ == stage::performed || has_completed_)
      return thread_.resume_later();
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
    waiting(direct_awaiter& awaiter, scheduler& owner, Initiation&& initiation)
        : base(&complete, owner, std::move(initiation)), awaiter_(awaiter) {}

   private:
    static void complete(operation* op, operation::action what) {
      if (what == operation::action::describe)
        return operation::describe<direct_awaiter>(op, true);
      direct_awaiter& awaiter = static_cast<waiting*>(op)->awaiter_;
      if (what == operation::action::destroy)
        return awaiter.thread_.destroy();
      if (awaiter.is_connected_) [[unlikely]]
        awaiter.disconnect();
      awaiter.thread_.resume();
    }

    direct_awaiter& awaiter_;
  };

  bool start() noexcept {
    thread_.waits(type_text<Initiation>());
    if (waiting_.start())
      return true;
    thread_.goes_on();
    return false;
  }

  typename results::type take_value() {
    if constexpr (!std::is_void_v<typename results::type>)
      return std::move(value_);
  }

  /// Whether it has succeeded without an operation.
  [[gnu::always_inline]] bool perform() noexcept {
    auto result = initiation_->try_perform();
    if (!result)
      return false;
    if constexpr (std::is_void_v<typename results::type>)
      std::construct_at(&value_);
    else
      std::construct_at(&value_, *std::move(result));
    stage_ = stage::performed;
    return true;
  }

  // Not inlined: their variables would be kept in the coroutine's frame.
  [[gnu::noinline]] bool wait() {
    if constexpr (may_be_performed) {
      std::construct_at(&waiting_, *this, *thread_.native(), std::move(*initiation_));
      stage_ = stage::waiting;
    }
    const bool is_pending =
        thread_.cancellation.slot().is_connected() ? start_cancellable() : start();
    return is_pending || (!thread_.may_go_on() && thread_.resume_later());
  }
  [[gnu::noinline]] typename results::type take_results() {
    if (stage_ == stage::handled) [[unlikely]]
      return handler_.await_resume();
    results r;
    waiting_.take_results().give_to(
        [&](auto&&... values) { r.set(std::forward<decltype(values)>(values)...); });
    return r.get();
  }
  [[gnu::noinline]] bool start_cancellable() {
    cancellation_slot slot = thread_.cancellation.slot();
    const slot_lock lock(slot);
    waiting_.retain();
    slot.template emplace<operation_canceller<base>>(&waiting_);
    is_connected_ = true;
    if (start())
      return true;
    disconnect();
    return false;
  }
  [[gnu::noinline]] void disconnect() noexcept {
    is_connected_ = false;
    thread_.cancellation.slot().clear();
  }

  union {
    Initiation* initiation_;   // deferred
    value value_;              // performed
    waiting waiting_;          // waiting
    handler_awaiter handler_;  // handled: the executor is not native
  };
  Thread& thread_;
  stage stage_;
  bool has_completed_ = false;
  bool is_connected_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
