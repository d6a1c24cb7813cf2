// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <concepts>
#include <coroutine>
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
/// is a logical_thread<Executor>, or the base of them all for a coroutine that runs in any.
template <class Thread>
class awaitable_promise_base : public awaitable_frame {
  static constexpr bool runs_anywhere = std::is_same_v<Thread, logical_thread_base>;

 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() noexcept { return return_to_caller(); }

  /// It does not wait, as it seemed, for another coroutine: that runs now, in the same thread.
  void goes_on_elsewhere() noexcept { this->thread_->goes_on(); }

  /// Has it called by the co_await `by` of another one: runs it, until it waits or has ended.
  /// Whether the caller is to wait.
  bool run_from(awaitable_frame& caller, call& by) noexcept {
    this->call_from(caller, by);
    bool has_ended = false;
    if (resume_loop::may_call()) [[likely]] {
      this->on_stack_ = &has_ended;
      this->handle().resume();
    } else {
      run_elsewhere(caller);
    }
    return !has_ended;
  }

  template <class U, class Executor>
    requires(runs_anywhere || std::is_same_v<Thread, logical_thread<Executor>>)
  auto await_transform(awaitable<U, Executor> callee,
                       source_pointer where = __builtin_source_location()) {
    where_ = where;
    Thread& thread = this->thread();
    if constexpr (runs_anywhere)
      if (!thread.template runs_on<Executor>()) [[unlikely]]
        throw_other_executor_type();
    if (thread.is_to_throw()) [[unlikely]]
      throw_cancelled();
    return call_of<awaitable_promise<U, Executor>, U>(callee);
  }

  template <class U>
  auto await_transform(task<U> callee,
                       source_pointer where = __builtin_source_location()) noexcept {
    where_ = where;
    return call_of<task_promise<U>, U>(callee);
  }

  template <class Operation>
    requires(async_operation_call<Operation>)
  auto await_transform(Operation&& operation, source_pointer where = __builtin_source_location()) {
    return operation_awaiter<std::decay_t<Operation>, Thread>(std::forward<Operation>(operation),
                                                              begin_wait(where));
  }

  template <class Signature, direct_initiation Initiation>
  [[gnu::always_inline]] auto await_transform(
      deferred_async_operation<Signature, Initiation>&& operation,
      source_pointer where = __builtin_source_location()) {
    return direct_awaiter<Signature, Initiation, Thread>(std::move(operation), begin_wait(where));
  }

  template <submission How, class Target>
  auto await_transform(deferred_async_operation<void(), initiate_submission_to<How, Target>> post,
                       source_pointer where = __builtin_source_location()) {
    return submission_awaiter<How, Target, Thread>(std::move(post), begin_wait(where));
  }

  template <plain_awaitable Awaitable>
    requires(!async_operation_call<Awaitable>)
  auto await_transform(Awaitable&& awaitable, source_pointer where = __builtin_source_location()) {
    where_ = where;
    this->thread_->begin_wait(*this);
    return foreign_awaiter<Awaitable>(std::forward<Awaitable>(awaitable), *this->thread_);
  }

  template <class Operation>
    requires(async_operation_call<Operation> && !async_operation_call<Operation&> &&
             !plain_awaitable<Operation&>)
  void await_transform(Operation&) {
    static_assert(!std::is_same_v<Operation, Operation>,
                  "co_await uses this up: write co_await std::move(x)");
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

  // On the stack it goes on, and destroys itself. It has no member, for which g++ would keep room.
  struct return_to_caller {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) const noexcept {
      awaitable_promise_base& self = h.promise();
      if (self.end_on_stack()) [[likely]] {
        self.disown();
        return false;
      }
      self.end_later();
      return true;
    }
    void await_resume() const noexcept {}
  };

  template <class Promise, class T>
  class call_of : private result_call<T> {
   public:
    template <class Callee>
    explicit call_of(Callee& callee) noexcept : result_call<T>(awaitable_access::release(callee)) {
      assert(this->callee_ && "a coroutine is awaited once, and not after it has been moved from");
    }

    bool await_ready() const noexcept { return false; }
    template <class Caller>
    bool await_suspend(std::coroutine_handle<Caller> caller) noexcept {
      return std::coroutine_handle<Promise>::from_address(this->callee_.address())
          .promise()
          .run_from(caller.promise(), *this);
    }
    T await_resume() { return this->result.take(); }
  };

  // The stack has no room, or is somebody else's.
  [[gnu::noinline]] void run_elsewhere(awaitable_frame& caller) noexcept {
    caller.leave_stack();
    this->on_stack_ = nullptr;
    go_on_with(this->handle(), *this->thread_);
  }
  /// Has `h` of `thread` resumed in a loop of it.
  static void go_on_with(std::coroutine_handle<> h, logical_thread_base& thread) noexcept {
    if (!resume_loop::go_on_later(h, thread))
      thread.run_below(h);
  }
  [[gnu::noinline]] void end_later() noexcept {
    if (this->caller_) [[likely]]
      go_on_with(this->caller_->handle(), *this->thread_);
    else
      this->thread_->ended();
  }

  Thread& thread() const {
    if (runs_anywhere && !thread_->has_executor()) [[unlikely]]
      throw_no_executor();
    return static_cast<Thread&>(*thread_);
  }

  Thread& begin_wait(source_pointer where) {
    where_ = where;
    Thread& thread = this->thread();
    if (thread.begin_wait(*this)) [[unlikely]]
      throw_cancelled();
    return thread;
  }

 protected:
  /// Where a coroutine goes at its end that is on no stack, or that gives something to its caller.
  std::coroutine_handle<> return_later() noexcept {
    if (this->caller_) [[likely]]
      return resume_loop::transfer(this->caller_->handle(), *this->thread_);
    this->thread_->ended();
    return std::noop_coroutine();
  }
};

/// The promise of a coroutine that returns a `T` to its co_await, a result_call<T>.
template <class Thread, class T>
class returning_promise : public awaitable_promise_base<Thread> {
 public:
  template <class U = T>
    requires requires(coroutine_result<T>& r, U&& u) { r.return_value(std::forward<U>(u)); }
  void return_value(U&& value) noexcept(
      noexcept(std::declval<coroutine_result<T>&>().return_value(std::forward<U>(value)))) {
    static_cast<result_call<T>*>(this->call_)->result.return_value(std::forward<U>(value));
  }
  void unhandled_exception() noexcept {
    static_cast<result_call<T>*>(this->call_)->result.unhandled_exception();
  }
};
template <class Thread>
class returning_promise<Thread, void> : public awaitable_promise_base<Thread> {
 public:
  void return_void() const noexcept {}
  void unhandled_exception() noexcept {
    static_cast<result_call<void>*>(this->call_)->result.unhandled_exception();
  }
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
