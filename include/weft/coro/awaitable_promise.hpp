// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/deferred.hpp>
#include <weft/async/is_async_operation.hpp>
#include <weft/base/error.hpp>
#include <weft/context/submission.hpp>
#include <weft/coro/awaitable_frame.hpp>
#include <weft/coro/coroutine_result.hpp>
#include <weft/coro/direct_awaiter.hpp>
#include <weft/coro/foreign_awaiter.hpp>
#include <weft/coro/logical_thread.hpp>
#include <weft/coro/operation_awaiter.hpp>
#include <weft/coro/submission_awaiter.hpp>
#include <weft/coro/this_coro.hpp>

namespace WEFT_NAMESPACE {

template <class T, class Executor>
class awaitable;
template <class T>
class task;

namespace detail {

template <class T, class Executor>
class awaitable_promise;
template <class T>
class task_promise;

struct awaitable_access {
  template <class Awaitable>
  static auto handle(const Awaitable& a) noexcept {
    return a.handle_;
  }
  template <class Awaitable>
  static auto release(Awaitable& a) noexcept {
    return a.release();
  }
};

/// What the language takes for awaitable without a promise's help.
template <class T>
concept plain_awaitable = requires(T&& t) { std::forward<T>(t).operator co_await(); } ||
                          requires(T&& t) { operator co_await(std::forward<T>(t)); } ||
                          requires(T& t) { t.await_ready(); };

[[noreturn]] WEFT_API void throw_cancelled();
/// Throw std::logic_error: what a coroutine without an executor, or with one of another type,
/// cannot wait for.
[[noreturn]] WEFT_API void throw_no_executor();
[[noreturn]] WEFT_API void throw_other_executor_type();

/// What a coroutine of a logical thread takes in co_await, and where it goes at its end. `Thread`
/// is a logical_thread<Executor>, or the base of them all for a coroutine that runs in any, or in
/// none.
template <class Thread>
class awaitable_promise_base : public awaitable_frame {
  static constexpr bool runs_anywhere = std::is_same_v<Thread, logical_thread_base>;

 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() const noexcept { return return_to_caller(); }

  /// Has it called, or gone on with, by a coroutine in the co_await `by`. What that transfers to.
  template <class Caller>
  std::coroutine_handle<> called_by(std::coroutine_handle<Caller> caller, call& by) noexcept {
    if constexpr (std::is_base_of_v<awaitable_frame, Caller>)
      call_from(caller.promise(), by);
    else
      call_from(caller);
    if (thread_)
      thread_->goes_on();  // in another coroutine
    return resume_loop::transfer(handle(), thread_);
  }

  template <class U, class Executor>
    requires(runs_anywhere || std::is_same_v<Thread, logical_thread<Executor>>)
  auto await_transform(awaitable<U, Executor> callee,
                       std::source_location where = std::source_location::current()) {
    where_ = where;
    Thread& thread = this->thread();
    if constexpr (runs_anywhere)
      if (!thread.template runs_on<Executor>()) [[unlikely]]
        throw_other_executor_type();
    if (thread.is_to_throw()) [[unlikely]]
      throw_cancelled();
    return call_of<awaitable_promise<U, Executor>>(callee);
  }

  template <class U>
  auto await_transform(task<U> callee,
                       std::source_location where = std::source_location::current()) noexcept {
    where_ = where;
    return call_of<task_promise<U>>(callee);
  }

  template <class Operation>
    requires(async_operation_call<Operation>)
  auto await_transform(Operation&& operation,
                       std::source_location where = std::source_location::current()) {
    return operation_awaiter<std::decay_t<Operation>, Thread>(std::forward<Operation>(operation),
                                                              begin_wait(where));
  }

  template <class Signature, direct_initiation Initiation>
  [[gnu::always_inline]] auto await_transform(
      deferred_async_operation<Signature, Initiation>&& operation,
      std::source_location where = std::source_location::current()) {
    return direct_awaiter<Signature, Initiation, Thread>(std::move(operation), begin_wait(where));
  }

  template <submission How, class Target>
  auto await_transform(deferred_async_operation<void(), initiate_submission_to<How, Target>> post,
                       std::source_location where = std::source_location::current()) {
    return submission_awaiter<How, Target, Thread>(std::move(post), begin_wait(where));
  }

  template <plain_awaitable Awaitable>
    requires(!async_operation_call<Awaitable>)
  auto await_transform(Awaitable&& awaitable,
                       std::source_location where = std::source_location::current()) {
    where_ = where;
    if (!runs_anywhere || thread_)
      thread_->begin_wait(*this);
    return foreign_awaiter<Awaitable>(std::forward<Awaitable>(awaitable), thread_);
  }

  auto await_transform(this_coro::executor_t) const {
    return at_once<decltype(thread().get_executor())>{thread().get_executor()};
  }
  auto await_transform(this_coro::cancellation_state_t) const {
    return at_once<cancellation_state>{thread().cancellation};
  }
  auto await_transform(this_coro::throw_if_cancelled_0_t) const {
    return at_once<bool>{thread().throws_if_cancelled};
  }
  std::suspend_never await_transform(this_coro::throw_if_cancelled_1_t throws) {
    thread().throws_if_cancelled = throws.value;
    return {};
  }
  template <class InFilter, class OutFilter>
  std::suspend_never await_transform(
      this_coro::reset_cancellation_state_t<InFilter, OutFilter> filters) {
    Thread& thread = this->thread();
    thread.cancellation = {};  // what it names is gone if the next fails
    thread.cancellation = cancellation_state(thread.parent_slot, std::move(filters.in_filter),
                                             std::move(filters.out_filter));
    return {};
  }

 private:
  template <class Value>
  struct at_once {
    Value value;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    Value await_resume() { return static_cast<Value>(value); }
  };

  struct return_to_caller {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> h) const noexcept {
      awaitable_promise_base& self = h.promise();
      if (self.caller_) [[likely]]
        return resume_loop::transfer(self.caller_->handle(), self.thread_);
      if (runs_anywhere && !self.thread_)
        return std::coroutine_handle<>::from_address(self.foreign_);
      self.thread_->ended();
      return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };

  template <class Promise>
  class call_of : private awaitable_frame::call {
    Promise& callee() const noexcept {
      return std::coroutine_handle<Promise>::from_address(callee_.address()).promise();
    }

   public:
    template <class Callee>
    explicit call_of(Callee& callee) noexcept : call(awaitable_access::release(callee)) {
      assert(callee_ && "a coroutine is awaited once, and not after it has been moved from");
    }

    bool await_ready() const noexcept { return false; }
    template <class Caller>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Caller> caller) noexcept {
      return callee().called_by(caller, *this);
    }
    auto await_resume() -> decltype(callee().take()) { return callee().take(); }
  };

  Thread& thread() const {
    if (runs_anywhere && !(thread_ && thread_->has_executor())) [[unlikely]]
      throw_no_executor();
    return static_cast<Thread&>(*thread_);
  }

  Thread& begin_wait(const std::source_location& where) {
    where_ = where;
    Thread& thread = this->thread();
    if (thread.begin_wait(*this)) [[unlikely]]
      throw_cancelled();
    return thread;
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
