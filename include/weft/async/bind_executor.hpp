// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/binder.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/uses_executor.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// A target that wants to know its executor is constructed with it.
struct executor_binder_kind {
  template <class T, class Executor, class U>
  static T make(const Executor& ex, U&& target) {
    if constexpr (uses_executor_v<T, Executor>)
      return T(executor_arg, ex, std::forward<U>(target));
    else
      return T(std::forward<U>(target));
  }
};

}  // namespace detail

/// A function object or token with an associated executor: handlers run there.
///     socket.async_read_some(buffer, bind_executor(strand, handler));
/// It is called as its target is, wherever it is called: the executor is for whoever calls. The
/// target may be a token of any kind: the executor is then bound to the handler that is made of it.
/// If `uses_executor<T, Executor>`, the target is constructed with the executor. Made by
/// `bind_executor`.
template <class T, class Executor>
class executor_binder : public detail::binder<detail::executor_binder_kind, T, Executor> {
  using base = detail::binder<detail::executor_binder_kind, T, Executor>;

 public:
  using executor_type = Executor;

  using base::base;

  template <class U>
    requires std::is_constructible_v<base, const Executor&, U>
  executor_binder(executor_arg_t, const executor_type& ex, U&& target)
      : base(ex, std::forward<U>(target)) {}

  executor_type get_executor() const noexcept { return this->value(); }
};

/// `bind_executor` without a target: adapts a token, or, used as a token, the default one.
template <class Executor>
struct partial_executor_binder : detail::partial_binder<executor_binder, Executor> {
  using detail::partial_binder<executor_binder, Executor>::partial_binder;
};

template <detail::any_style_executor Executor>
[[nodiscard]] partial_executor_binder<Executor> bind_executor(const Executor& ex) {
  return partial_executor_binder<Executor>(ex);
}

template <detail::any_style_executor Executor, class T>
[[nodiscard]] executor_binder<std::decay_t<T>, Executor> bind_executor(const Executor& ex,
                                                                       T&& target) {
  return executor_binder<std::decay_t<T>, Executor>(ex, std::forward<T>(target));
}

template <detail::execution_context_type ExecutionContext>
[[nodiscard]] partial_executor_binder<typename ExecutionContext::executor_type> bind_executor(
    ExecutionContext& ctx) {
  return partial_executor_binder<typename ExecutionContext::executor_type>(ctx.get_executor());
}

template <detail::execution_context_type ExecutionContext, class T>
[[nodiscard]] executor_binder<std::decay_t<T>, typename ExecutionContext::executor_type>
bind_executor(ExecutionContext& ctx, T&& target) {
  return executor_binder<std::decay_t<T>, typename ExecutionContext::executor_type>(
      ctx.get_executor(), std::forward<T>(target));
}

template <class T, class Executor, class... Signatures>
class async_result<executor_binder<T, Executor>, Signatures...>
    : public detail::binder_result<executor_binder, Executor, Signatures...> {};

}  // namespace WEFT_NAMESPACE
