// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/redispatched.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/properties.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/system_executor.hpp>

// What post, dispatch and defer have in common.
namespace WEFT_NAMESPACE::detail {

enum class submission { dispatch, post, defer };

template <submission How, class Executor, class Function, class Allocator>
void submit(const Executor& ex, Function&& f, const Allocator& allocator) {
  if constexpr (How == submission::dispatch)
    detail::executor_dispatch(ex, std::forward<Function>(f), allocator);
  else if constexpr (How == submission::post)
    detail::executor_post(ex, std::forward<Function>(f), allocator);
  else
    detail::executor_defer(ex, std::forward<Function>(f), allocator);
}

/// An executor that can be told not to call inline.
template <class E>
concept postable = ts_executor<E> || (execution::executor<E> &&
                                      can_require_v<const E&, execution::blocking_t::never_t>);

/// A handler with the result it is to be called with.
template <class Handler, class Result>
class completed {
 public:
  completed(Handler&& handler, Result&& result)
      : handler_(std::move(handler)), result_(std::move(result)) {}
  void operator()() { std::move(handler_)(std::move(result_)); }

 private:
  Handler handler_;
  Result result_;
};

/// A function that runs in the target executor, and the handler that hears of it in its own.
template <class Function, class Handler, class Executor>
class reported_function {
 public:
  template <class F, class H>
  reported_function(F&& function, H&& handler, const Executor& ex)
      : work_(ex), function_(std::forward<F>(function)), handler_(std::forward<H>(handler)) {}

  void operator()() {
    auto allocator = get_associated_allocator(handler_);
    auto work(std::move(work_));
    using result = std::decay_t<std::invoke_result_t<Function>>;
    if constexpr (std::is_void_v<result>) {
      std::move(function_)();
      detail::executor_dispatch(work.get_executor(), std::move(handler_), allocator);
    } else {
      detail::executor_dispatch(
          work.get_executor(),
          completed<Handler, result>(std::move(handler_), std::move(function_)()), allocator);
    }
  }

 private:
  work_tracker<Executor> work_;
  Function function_;
  Handler handler_;
};

template <submission How>
struct initiate_submission {
  template <class Handler>
  void operator()(Handler&& handler) const {
    auto allocator = get_associated_allocator(handler);
    if constexpr (How == submission::dispatch)
      submit<How>(get_associated_executor(handler), std::forward<Handler>(handler), allocator);
    else
      submit<How>(get_associated_executor(handler, system_executor()),
                  std::forward<Handler>(handler), allocator);
  }
};

template <submission How, class Executor>
class initiate_submission_to {
 public:
  using executor_type = Executor;

  explicit initiate_submission_to(const Executor& ex) : executor_(ex) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class H>
  void operator()(H&& handler) const {
    using Handler = std::decay_t<H>;
    auto allocator = get_associated_allocator(handler);
    if constexpr (executor_unassociated<Handler, Executor>) {
      submit<How>(executor_, std::forward<H>(handler), allocator);
    } else {
      using target = associated_executor_t<Handler, Executor>;
      const target own = get_associated_executor(handler, executor_);
      if constexpr (std::is_same_v<target, Executor>) {
        if (own == executor_) {
          submit<How>(executor_, std::forward<H>(handler), allocator);
          return;
        }
      }
      submit<How>(executor_, redispatched<Handler, target>(std::forward<H>(handler), own),
                  allocator);
    }
  }

  template <class H, class Function>
  void operator()(H&& handler, Function&& function) const {
    using Handler = std::decay_t<H>;
    using target = associated_executor_t<Handler, Executor>;
    auto allocator = get_associated_allocator(handler);
    const target own = get_associated_executor(handler, executor_);
    submit<How>(executor_,
                reported_function<std::decay_t<Function>, Handler, target>(
                    std::forward<Function>(function), std::forward<H>(handler), own),
                allocator);
  }

 private:
  [[no_unique_address]] Executor executor_;
};

template <class Result>
struct result_signature {
  using type = void(std::decay_t<Result>);
};
template <>
struct result_signature<void> {
  using type = void();
};
/// How the handler of a submitted function is called.
template <class Function>
using result_signature_t =
    typename result_signature<std::invoke_result_t<std::decay_t<Function>>>::type;

template <class Context>
using context_executor_t = typename Context::executor_type;

}  // namespace WEFT_NAMESPACE::detail
