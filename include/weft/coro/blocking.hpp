// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/async/cancellation_type.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/error.hpp>
#include <weft/base/operation.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/context/scheduler.hpp>
#include <weft/context/system_context.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/system_executor.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

class blocking_service;

/// A blocking call on its way: queued -> begun -> performed, or queued -> aborted; changed under
/// the lock of the threads that perform it (src/coro/blocking_threads.hpp).
class WEFT_API blocking_call : public operation {
 public:
  scheduler& owner() const noexcept { return *owner_; }

  bool start() noexcept;
  void cancel(cancellation_type type) noexcept;
  void retain() const noexcept {}  // the threads outlive all

 protected:
  using perform_function = void (*)(blocking_call&) noexcept;

  /// Throws std::bad_alloc.
  blocking_call(function f, scheduler& owner, perform_function perform);
  ~blocking_call() = default;

  bool is_aborted() const noexcept { return state_ == state::aborted; }
  [[gnu::cold]] static std::exception_ptr aborted();

 private:
  friend class blocking_threads;
  enum class state : unsigned char { fresh, queued, begun, aborted };

  scheduler* const owner_;
  const perform_function perform_;
  blocking_service* const service_;  // of the owner's context
  blocking_call* earlier_ = nullptr;
  blocking_call* later_ = nullptr;
  state state_ = state::fresh;
};

template <class Function, class Executor>
class initiate_blocking;

template <class Function>
class blocking_operation : public blocking_call {
 public:
  template <class Executor>
  blocking_operation(function f, scheduler& owner,
                     initiate_blocking<Function, Executor>&& initiation)
      : blocking_call(f, owner, &perform), function_(std::move(initiation.function_)) {}

  auto take_results() {
    if (is_aborted())
      outcome_.fail(aborted());
    return outcome_.take_results();
  }

 private:
  static void perform(blocking_call& call) noexcept {
    auto& self = static_cast<blocking_operation&>(call);
    try {
      self.outcome_.call(std::move(self.function_));
    } catch (...) {
      self.outcome_.fail(std::current_exception());
    }
  }

  Function function_;
  fiber_outcome<std::decay_t<std::invoke_result_t<Function>>> outcome_;
};

template <class Function, class Executor>
class initiate_blocking {
 public:
  using executor_type = Executor;
  using operation_type = blocking_operation<Function>;

  template <class F>
  initiate_blocking(const Executor& executor, F&& f)
      : executor_(executor), function_(std::forward<F>(f)) {}

  executor_type get_executor() const noexcept { return executor_; }
  scheduler& owner() const noexcept { return use_scheduler(executor_context(executor_)); }

  template <class Handler>
  void operator()(Handler&& handler) && {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  friend operation_type;

  [[no_unique_address]] Executor executor_;
  Function function_;
};

template <class Token, class Executor, class F>
auto initiate_blocking_call(const Executor& executor, F&& f, Token& token) {
  using function = std::decay_t<F>;
  using T = std::decay_t<std::invoke_result_t<function>>;
  static_assert(handed_over<T>,
                "what a blocking call returns must be an object that can be made by "
                "default: a handler gets such a value with an exception");
  return async_initiate<Token, typename fiber_signature<T>::type>(
      initiate_blocking<function, Executor>(executor, std::forward<F>(f)), token);
}

}  // namespace detail

/// Runs a call that blocks on a thread that may be blocked, and waits for it in any style:
///
///     const std::string text = blocking([&] { return read_whole_file(path); }, yield);
///     co_await blocking([&] { legacy.flush(); });
///
/// The threads are the process's: one is started whenever none is idle, up to 512, and ends when it
/// has been idle for ten seconds. They block all signals. Calls begin in the order in which they
/// were started.
///
/// Completion signature: `void(std::exception_ptr, T)`, or `void(std::exception_ptr)` if `f`
/// returns nothing: what has left `f`, or null; and what it has returned, or `T()`.
/// Errors: throws what the allocation, or moving `f`, throws; nothing is started then. If no thread
/// can be started, and none lives, `f` is called inside the initiating function.
/// Cancellation: a call that has not begun, of any type: operation_aborted, as a system_error. One
/// that has begun finishes, and reports what it has done.
/// The end of a context, whose handler waits: what has not begun is destroyed, what has is waited
/// for.
/// fork: a call that is under way goes on in the parent; in the child it reports operation_aborted.
/// Thread safety: any thread. O(1), and a wake-up.
///
/// `place` is an executor, a context, or the yield_context of a fiber: whose executor handlers have
/// that have none of their own.
template <class Place, std::invocable F,
          class Token = default_completion_token_t<detail::executor_of_t<Place>>>
auto blocking(Place&& place, F&& f,
              Token&& token = default_completion_token_t<detail::executor_of_t<Place>>()) {
  return detail::initiate_blocking_call<Token>(detail::executor_of(place), std::forward<F>(f),
                                               token);
}

/// The same, with the system executor.
template <std::invocable F, class Token = default_completion_token_t<system_executor>>
auto blocking(F&& f, Token&& token = default_completion_token_t<system_executor>()) {
  return detail::initiate_blocking_call<Token>(system_executor(), std::forward<F>(f), token);
}

}  // namespace WEFT_NAMESPACE
