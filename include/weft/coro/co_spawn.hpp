// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/context/submission.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/work_tracker.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// A coroutine, or a function that makes it, that is started as a logical thread, and the handler
/// that hears of its end.
///   1. It is queued with the executor, which begins it: the function is called there.
///   2. It ends outside of its coroutines, as their loop's epilogue: these are destroyed, the slot
///   is
///      cleared, the handler is moved out, the memory goes back, and the handler is called, through
///      its executor if it has one of its own.
///   3. Destroyed at any other time, by whoever owns it then, it destroys the coroutines, the
///      innermost last, and the handler un-called.
template <class T, class Executor, class Start, class Handler>
class spawned final : public logical_thread<Executor> {
  using allocator_type = associated_allocator_t<Handler>;
  using memory = operation_owner<spawned, allocator_type>;
  using handler_executor = associated_executor_t<Handler, Executor>;
  static constexpr bool has_own_executor = !executor_unassociated<Handler, Executor>;
  struct nothing {
    template <class... A>
    explicit nothing(const A&...) noexcept {}
  };

 public:
  template <class S, class H>
  static void start(const Executor& executor, S&& start, H&& handler) {
    const allocator_type allocator(get_associated_allocator(handler));
    memory op(std::in_place, allocator, executor, std::forward<S>(start), std::forward<H>(handler));
    op->connect();
    op->is_queued_ = true;
    // What an executor throws that refuses it, the initiating function throws.
    submit<submission::post>(executor, operation_function(op.release()), allocator);
  }

  template <class S, class H>
  spawned(const Executor& executor, S&& start, H&& handler)
      : logical_thread<Executor>(&run, &end, executor),
        work_(executor),
        handler_work_(get_associated_executor(handler, executor)),
        start_(std::forward<S>(start)),
        handler_(std::forward<H>(handler)) {}

  ~spawned() {
    if (this->parent_slot.is_connected())
      this->parent_slot.clear();
  }

 private:
  static memory owner_of(spawned* self) noexcept {
    return memory(self, get_associated_allocator(self->handler_));
  }

  void connect() {
    const auto slot = get_associated_cancellation_slot(handler_);
    if constexpr (std::is_same_v<std::decay_t<decltype(slot)>, cancellation_slot>)
      this->parent_slot = slot;
    this->cancellation = cancellation_state(slot);
  }

  static void run(operation* base, operation::action what) {
    if (what == operation::action::describe)
      return operation::describe<Start>(base);
    auto* const self = static_cast<spawned*>(base);
    if (what == operation::action::destroy) {
      if (!handover::destroyed(base))
        owner_of(self).reset();
      return;
    }
    handover::called(base);
    if (std::exchange(self->is_queued_, false))
      self->begin();
    else if (self->next_)
      self->resume(self->next_);
    else
      (*self)();
  }

  void begin() {
    if constexpr (std::is_same_v<Start, awaitable<T, Executor>>) {
      called_ = std::move(start_);
    } else {
      try {
        called_ = std::move(start_)();
      } catch (...) {
        finish(std::current_exception());
        return;
      }
    }
    awaitable_access::handle(called_).promise().call_from(*this);
    resume_loop::run(awaitable_access::handle(called_));
  }

  static void end(resume_loop::epilogue* base) {
    auto* const self = static_cast<spawned*>(base);
    auto& promise = awaitable_access::handle(self->called_).promise();
    if (promise.has_exception()) {
      self->finish(promise.take_exception());
    } else if constexpr (std::is_void_v<T>) {
      self->finish(std::exception_ptr());
    } else {
      T result(promise.take());
      self->finish(std::exception_ptr(), std::forward<T>(result));
    }
  }

  template <class... Result>
  void finish(std::exception_ptr error, Result&&... result) {
    memory op = owner_of(this);
    called_ = {};
    if (this->parent_slot.is_connected()) {
      this->parent_slot.clear();
      this->parent_slot = {};
    }
    Handler handler(std::move(handler_));
    const auto work(std::move(work_));
    auto handler_work(std::move(handler_work_));
    op.reset();
    const auto call = [&] {
      if constexpr (std::is_void_v<T>)
        std::move(handler)(std::move(error));
      else if constexpr (sizeof...(Result) != 0)
        std::move(handler)(std::move(error), std::forward<Result>(result)...);
      else
        std::move(handler)(std::move(error), T());
    };
    if constexpr (!has_own_executor) {
      call();
    } else {
      const allocator_type allocator(get_associated_allocator(handler));
      if constexpr (std::is_void_v<T>)
        executor_dispatch(
            handler_work.get_executor(),
            [h = std::move(handler), e = std::move(error)]() mutable {
              std::move(h)(std::move(e));
            },
            allocator);
      else
        executor_dispatch(
            handler_work.get_executor(),
            [h = std::move(handler), e = std::move(error),
             r = kept<Result...>(std::forward<Result>(result)...)]() mutable {
              std::move(h)(std::move(e), std::forward<T>(r.value));
            },
            allocator);
    }
  }

  template <class... Result>
  struct kept {
    T value{};
  };
  template <class Result>
  struct kept<Result> {
    explicit kept(Result&& result) : value(std::forward<Result>(result)) {}
    T value;
  };

  work_tracker<Executor> work_;
  std::conditional_t<has_own_executor, work_tracker<handler_executor>, nothing> handler_work_;
  bool is_queued_ = false;
  [[no_unique_address]] Start start_;
  [[no_unique_address]] Handler handler_;
  awaitable<T, Executor> called_;  // it may refer to start_, which is destroyed after it
};

template <class T>
struct spawn_signature {
  using type = void(std::exception_ptr, T);
};
template <>
struct spawn_signature<void> {
  using type = void(std::exception_ptr);
};

template <class T, class Executor>
class initiate_spawn {
 public:
  using executor_type = Executor;

  explicit initiate_spawn(const Executor& executor) : executor_(executor) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class Handler, class Start>
  void operator()(Handler&& handler, Start&& start) const {
    spawned<T, Executor, std::decay_t<Start>, std::decay_t<Handler>>::start(
        executor_, std::forward<Start>(start), std::forward<Handler>(handler));
  }

 private:
  [[no_unique_address]] Executor executor_;
};

template <class T>
inline constexpr bool is_awaitable_type = false;
template <class T, class Executor>
inline constexpr bool is_awaitable_type<awaitable<T, Executor>> = true;

/// A function that co_spawn may start on `Executor`.
template <class F, class Executor>
concept spawnable_function =
    std::is_invocable_v<std::decay_t<F>> &&
    is_awaitable_type<std::invoke_result_t<std::decay_t<F>>> &&
    std::is_convertible_v<const Executor&,
                          typename std::invoke_result_t<std::decay_t<F>>::executor_type>;

template <class Awaitable, class Token, class Start>
auto spawn_awaitable(const typename Awaitable::executor_type& executor, Start&& start,
                     Token& token) {
  using T = typename Awaitable::value_type;
  static_assert(std::is_void_v<T> || std::is_default_constructible_v<T>,
                "what co_spawn's coroutine returns must be default-constructible: a handler gets "
                "such a value with an exception");
  return async_initiate<Token, typename spawn_signature<T>::type>(
      initiate_spawn<T, typename Awaitable::executor_type>(executor), token,
      std::forward<Start>(start));
}

}  // namespace detail

/// Starts a logical thread: a coroutine that runs by itself, on `ex`.
///
///     co_spawn(context, session(std::move(socket)), detached);
///     co_spawn(context, [&]() -> awaitable<int> { co_return co_await answer(); },
///              [](std::exception_ptr error, int answer) { ... });
///
/// `start` is an awaitable, or a function without parameters that returns one; it is called on
/// `ex`, and kept until its coroutine has ended, so that a lambda may use its captures in the
/// coroutine. Nothing runs before co_spawn has returned.
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
/// When the context is destroyed, so is what the coroutine holds, and the handler un-called.
template <class Executor, class T, class AwaitableExecutor,
          class Token = default_completion_token_t<Executor>>
  requires detail::any_style_executor<Executor> &&
           std::is_convertible_v<const Executor&, AwaitableExecutor>
auto co_spawn(const Executor& ex, awaitable<T, AwaitableExecutor> start,
              Token&& token = default_completion_token_t<Executor>()) {
  return detail::spawn_awaitable<awaitable<T, AwaitableExecutor>, Token>(AwaitableExecutor(ex),
                                                                         std::move(start), token);
}

/// The same on the executor of `context`.
template <detail::execution_context_type Context, class T, class AwaitableExecutor,
          class Token = default_completion_token_t<typename Context::executor_type>>
  requires std::is_convertible_v<typename Context::executor_type, AwaitableExecutor>
auto co_spawn(Context& context, awaitable<T, AwaitableExecutor> start,
              Token&& token = default_completion_token_t<typename Context::executor_type>()) {
  return detail::spawn_awaitable<awaitable<T, AwaitableExecutor>, Token>(
      AwaitableExecutor(context.get_executor()), std::move(start), token);
}

/// The same with a function.
template <class Executor, class F, class Token = default_completion_token_t<Executor>>
  requires detail::any_style_executor<Executor> && detail::spawnable_function<F, Executor>
auto co_spawn(const Executor& ex, F&& start,
              Token&& token = default_completion_token_t<Executor>()) {
  using result = std::invoke_result_t<std::decay_t<F>>;
  return detail::spawn_awaitable<result, Token>(typename result::executor_type(ex),
                                                std::forward<F>(start), token);
}

/// The same with a function, on the executor of `context`.
template <detail::execution_context_type Context, class F,
          class Token = default_completion_token_t<typename Context::executor_type>>
  requires detail::spawnable_function<F, typename Context::executor_type>
auto co_spawn(Context& context, F&& start,
              Token&& token = default_completion_token_t<typename Context::executor_type>()) {
  using result = std::invoke_result_t<std::decay_t<F>>;
  return detail::spawn_awaitable<result, Token>(
      typename result::executor_type(context.get_executor()), std::forward<F>(start), token);
}

}  // namespace WEFT_NAMESPACE
