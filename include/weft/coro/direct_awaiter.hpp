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
/// While the operation is pending, it owns the logical thread: one that is destroyed destroys all
/// coroutines of the chain, itself with them.
template <class Signature, class Initiation, class Thread>
class direct_awaiter {
  using base = typename Initiation::operation_type;
  using results = awaited_results_t<Signature>;
  using operation_type = deferred_async_operation<Signature, Initiation>;
  using handler_awaiter = operation_awaiter<operation_type, Thread>;

 public:
  direct_awaiter(operation_type&& operation, Thread& thread) : thread_(thread) {
    if (scheduler* const native = thread.native()) [[likely]]
      std::construct_at(&waiting_, *this, *native,
                        std::move(deferred_access::initiation(operation)));
    else
      std::construct_at(&handler_, std::move(operation), thread);
  }
  direct_awaiter(const direct_awaiter&) = delete;
  direct_awaiter& operator=(const direct_awaiter&) = delete;
  ~direct_awaiter() {
    if (thread_.native()) [[likely]]
      std::destroy_at(&waiting_);
    else
      std::destroy_at(&handler_);
  }

  bool await_ready() noexcept {
    if (!thread_.native()) [[unlikely]]
      return false;
    has_completed_ = completes_at_once(waiting_);
    return has_completed_ && thread_.may_go_on();
  }

  bool await_suspend(std::coroutine_handle<> h) {
    if (!thread_.native()) [[unlikely]]
      return handler_.await_suspend(h);
    if (!has_completed_) {
      handle_ = h;
      const bool is_pending =
          thread_.cancellation.slot().is_connected() ? start_cancellable() : start();
      if (is_pending)
        return true;
      if (thread_.may_go_on())
        return false;
    }
    return thread_.resume_later(h);
  }

  typename results::type await_resume() {
    if (!thread_.native()) [[unlikely]]
      return handler_.await_resume();
    results r;
    waiting_.take_results().give_to(
        [&](auto&&... values) { r.set(std::forward<decltype(values)>(values)...); });
    return r.get();
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
      awaiter.thread_.resume(awaiter.handle_);
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

  // Not inlined: their variables would be kept in the coroutine's frame.
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
    waiting waiting_;          // if the executor is native
    handler_awaiter handler_;  // if not
  };
  Thread& thread_;
  std::coroutine_handle<> handle_;
  bool has_completed_ = false;
  bool is_connected_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
