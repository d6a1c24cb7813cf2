// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/context/submission.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/end_handler.hpp>
#include <weft/coro/task.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// What came of a logical thread: an exception, or what the outermost coroutine has returned.
template <class T>
class spawn_outcome {
 public:
  explicit spawn_outcome(coroutine_result<T>& result) noexcept {
    try {
      if (!result.has_exception())
        value_.emplace(result.take());
      else
        error_ = result.take_exception();
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  template <class Handler>
  void give_to(Handler&& handler) && {
    if (value_)
      std::forward<Handler>(handler)(std::exception_ptr(), *std::move(value_));
    else
      std::forward<Handler>(handler)(std::move(error_), T());
  }

 private:
  std::exception_ptr error_;
  std::optional<T> value_;
};

template <>
class spawn_outcome<void> {
 public:
  explicit spawn_outcome(coroutine_result<void>& result) noexcept
      : error_(result.take_exception()) {}

  template <class Handler>
  void give_to(Handler&& handler) && {
    std::forward<Handler>(handler)(std::move(error_));
  }

 private:
  std::exception_ptr error_;
};

/// A coroutine of the type `Called`, or a function that makes it, that is started as a logical
/// thread, and the handler that hears of its end. One operation all the way; it is in one stage at
/// a time:
///   queued     The executor is to begin it: to call the function, and to resume what that returns.
///   running    Its coroutines run, or wait; or the innermost is queued to go on.
///   concluded  The coroutines have ended and are destroyed, the outcome is here. It is offered to
///              the handler's executor; if that refuses, it is queued with the thread's, to be
///              offered again, and what was thrown leaves `run()`. If both refuse, the handler is
///              called on the spot.
/// At its end the slot is cleared, before anything that may own the signal is destroyed; the
/// handler is moved out, the memory goes back, and the handler is called.
///
/// Destroyed before that, by whoever owns it then, it destroys the coroutines, the innermost first,
/// then the function, and the handler last, when the memory has gone back.
template <class Called, class Executor, class Start, class Handler>
class spawned final : public with_end_handler<spawned<Called, Executor, Start, Handler>,
                                              logical_thread<Executor>, Executor, Handler> {
  using base = with_end_handler<spawned, logical_thread<Executor>, Executor, Handler>;
  friend base;
  using T = typename Called::value_type;
  using allocator_type = associated_allocator_t<Handler>;
  using memory = operation_owner<spawned, allocator_type>;
  using typename base::stage;
  static constexpr bool is_made = std::is_same_v<Start, Called>;
  struct nothing {};

 public:
  template <class S, class H>
  static void start(const Executor& executor, S&& start, H&& handler,
                    const std::source_location& where) {
    const allocator_type allocator(get_associated_allocator(handler));
    memory op(std::in_place, allocator, executor, std::forward<S>(start), std::forward<H>(handler),
              where);
    op->connect();
    // What an executor throws that refuses it, the initiating function throws.
    submit<submission::post>(executor, operation_function(op.release()), allocator);
  }

  template <class S, class H>
  spawned(const Executor& executor, S&& start, H&& handler, const std::source_location& where)
      : base(executor, std::forward<H>(handler), &run, executor, where),
        start_(keep(std::forward<S>(start))) {
    if constexpr (is_made)
      called_.own(release(start));
  }

  ~spawned() { end_coroutines(); }

 private:
  static memory owner_of(spawned* self) noexcept {
    return memory(self, get_associated_allocator(self->handler()));
  }

  void end_coroutines() noexcept {
    std::exchange(this->parent_slot, {}).clear();
    this->cancellation = {};
    this->unwind();
    called_.destroy_callee();
  }

  static void run(operation* base, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<Start>(base);
    auto* const self = static_cast<spawned*>(base);
    if (what == operation::action::destroy) {
      if (!handover::destroyed(base))
        self->dismiss();
      return;
    }
    handover::called(base);
    switch (self->stage_) {
      case stage::queued: self->begin(); break;
      case stage::running:
        if (!self->goes_on_below() || self->run_innermost())
          self->conclude();
        break;
      case stage::concluded: self->offer_handler(); break;
    }
  }

  void dismiss() noexcept {
    end_coroutines();
    dismiss_operation(owner_of(this), this->handler());
  }

  void begin() {
    this->stage_ = stage::running;
    if constexpr (!is_made) {
      try {
        Called called = std::move(start_)();
        called_.own(release(called));
      } catch (...) {
        called_.result.unhandled_exception();
        conclude();
        return;
      }
    }
    auto& promise = called_.template callee<typename Called::promise_type>();
    promise.call_from(*this, called_);
    if (resume_loop::run_to_end(promise.handle(), *this))
      conclude();
  }

  void conclude() {
    this->stage_ = stage::concluded;
    end_coroutines();
    this->offer_handler();
  }

  void finish() {
    memory op = owner_of(this);
    spawn_outcome<T> outcome(called_.result);
    auto last = this->take();
    op.reset();
    std::move(outcome).give_to(std::move(last.handler));
  }

  /// What is kept of `start` until the coroutine has ended.
  template <class S>
  static decltype(auto) keep(S&& start) noexcept {
    if constexpr (is_made)
      return nothing();
    else
      return std::forward<S>(start);
  }
  static auto release(Called& called) noexcept {
    auto outermost = awaitable_access::release(called);
    assert(outermost && "co_spawn starts a coroutine once, and none that has been moved from");
    return outermost;
  }

  [[no_unique_address]] std::conditional_t<is_made, nothing, Start> start_;
  result_call<T> called_;  // may refer to start_
};

template <class T>
struct spawn_signature {
  using type = void(std::exception_ptr, T);
};
template <>
struct spawn_signature<void> {
  using type = void(std::exception_ptr);
};

template <class Called, class Executor>
class initiate_spawn {
 public:
  using executor_type = Executor;

  explicit initiate_spawn(const Executor& executor,
                          const std::source_location& where = std::source_location::current())
      : executor_(executor), where_(where) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class Handler, class Start>
  void operator()(Handler&& handler, Start&& start) const {
    spawned<Called, Executor, std::decay_t<Start>, std::decay_t<Handler>>::start(
        executor_, std::forward<Start>(start), std::forward<Handler>(handler), where_);
  }

 private:
  [[no_unique_address]] Executor executor_;
  std::source_location where_;
};

/// Which type of executor a coroutine runs on; a task runs on any.
template <class Called>
struct executor_to_spawn {};
template <class T, class Executor>
struct executor_to_spawn<awaitable<T, Executor>> {
  using type = Executor;
};
template <class T>
struct executor_to_spawn<task<T>> {
  using type = any_io_executor;
};

/// A coroutine that co_spawn may start on `Executor`.
template <class Called, class Executor>
concept spawnable =
    std::is_convertible_v<const Executor&, typename executor_to_spawn<Called>::type>;

/// A function that makes one.
template <class F, class Executor>
concept spawnable_function = std::is_invocable_v<std::decay_t<F>> &&
                             spawnable<std::invoke_result_t<std::decay_t<F>>, Executor>;

template <class Called, class Token, class Executor, class Start>
auto spawn_coroutine(const Executor& executor, Start&& start, Token& token,
                     const std::source_location& where) {
  using T = typename Called::value_type;
  using own_executor = typename executor_to_spawn<Called>::type;
  static_assert(std::is_void_v<T> || (std::is_object_v<T> && std::is_default_constructible_v<T>),
                "what co_spawn's coroutine returns must be an object that can be made by default: "
                "a handler gets such a value with an exception");
  return async_initiate<Token, typename spawn_signature<T>::type>(
      initiate_spawn<Called, own_executor>(own_executor(executor), where), token,
      std::forward<Start>(start));
}

}  // namespace detail

/// Starts a logical thread: a coroutine that runs by itself, on `ex`.
///
///     co_spawn(context, session(std::move(socket)), detached);
///     co_spawn(context, [&]() -> awaitable<int> { co_return co_await answer(); },
///              [](std::exception_ptr error, int answer) { ... });
///
/// `start` is an awaitable, a task, or a function without parameters that returns one; it is called
/// on `ex`, and kept until its coroutine has ended, so that a lambda may use its captures in the
/// coroutine. Nothing runs before co_spawn has returned. `where` is what dump_tasks() tells of
/// where it was started.
///
/// Completion signature: `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` if T is void:
/// what has left the coroutine, or null; and what it has returned, or `T()`.
/// Errors: throws what the allocations, moving `start`, or the executor throw; nothing is started
/// then.
/// Cancellation: the token's slot cancels what the coroutine waits for, and makes its next co_await
/// throw, for requests that this_coro::reset_cancellation_state lets pass: terminal ones, unless it
/// was called. What the coroutine makes of that is its own.
/// Thread safety: any thread. O(1): one allocation, and the coroutine's frame.
///
/// When the context is destroyed while the coroutine waits for an operation, so is what it holds,
/// and the handler un-called. (One that waits for something else belongs to who is to resume it.)
template <class Executor, class Coroutine, class Token = default_completion_token_t<Executor>>
  requires detail::any_style_executor<Executor> && detail::spawnable<Coroutine, Executor>
auto co_spawn(const Executor& ex, Coroutine start,
              Token&& token = default_completion_token_t<Executor>(),
              std::source_location where = std::source_location::current()) {
  return detail::spawn_coroutine<Coroutine, Token>(ex, std::move(start), token, where);
}

/// The same on the executor of `context`.
template <detail::execution_context_type Context, class Coroutine,
          class Token = default_completion_token_t<typename Context::executor_type>>
  requires detail::spawnable<Coroutine, typename Context::executor_type>
auto co_spawn(Context& context, Coroutine start,
              Token&& token = default_completion_token_t<typename Context::executor_type>(),
              std::source_location where = std::source_location::current()) {
  return detail::spawn_coroutine<Coroutine, Token>(context.get_executor(), std::move(start), token,
                                                   where);
}

/// The same with a function.
template <class Executor, class F, class Token = default_completion_token_t<Executor>>
  requires detail::any_style_executor<Executor> && detail::spawnable_function<F, Executor>
auto co_spawn(const Executor& ex, F&& start, Token&& token = default_completion_token_t<Executor>(),
              std::source_location where = std::source_location::current()) {
  return detail::spawn_coroutine<std::invoke_result_t<std::decay_t<F>>, Token>(
      ex, std::forward<F>(start), token, where);
}

/// The same with a function, on the executor of `context`.
template <detail::execution_context_type Context, class F,
          class Token = default_completion_token_t<typename Context::executor_type>>
  requires detail::spawnable_function<F, typename Context::executor_type>
auto co_spawn(Context& context, F&& start,
              Token&& token = default_completion_token_t<typename Context::executor_type>(),
              std::source_location where = std::source_location::current()) {
  return detail::spawn_coroutine<std::invoke_result_t<std::decay_t<F>>, Token>(
      context.get_executor(), std::forward<F>(start), token, where);
}

}  // namespace WEFT_NAMESPACE
