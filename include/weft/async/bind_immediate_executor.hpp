// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/binder.hpp>

namespace WEFT_NAMESPACE {

/// A function object or token with an associated immediate executor: the one that runs the handler
/// of an operation which finished inside its initiating function.
///     socket.async_read_some(buffer, bind_immediate_executor(inline_executor(), handler));
/// Beware of unbounded recursion with an executor that calls inline.
/// It is called as its target is. The target may be a token of any kind: the executor is then bound
/// to the handler that is made of it. Made by `bind_immediate_executor`.
template <class T, class Executor>
class immediate_executor_binder : public detail::binder<detail::plain_binder_kind, T, Executor> {
  using base = detail::binder<detail::plain_binder_kind, T, Executor>;

 public:
  using immediate_executor_type = Executor;

  using base::base;

  immediate_executor_type get_immediate_executor() const noexcept { return this->value(); }
};

/// `bind_immediate_executor` without a target: adapts a token, or, used as a token, the default
/// one.
template <class Executor>
struct partial_immediate_executor_binder
    : detail::partial_binder<immediate_executor_binder, Executor> {
  using detail::partial_binder<immediate_executor_binder, Executor>::partial_binder;
};

template <class Executor>
[[nodiscard]] partial_immediate_executor_binder<Executor> bind_immediate_executor(
    const Executor& value) {
  return partial_immediate_executor_binder<Executor>(value);
}

template <class Executor, class T>
[[nodiscard]] immediate_executor_binder<std::decay_t<T>, Executor> bind_immediate_executor(
    const Executor& value, T&& target) {
  return immediate_executor_binder<std::decay_t<T>, Executor>(value, std::forward<T>(target));
}

template <class T, class Executor, class... Signatures>
class async_result<immediate_executor_binder<T, Executor>, Signatures...>
    : public detail::binder_result<immediate_executor_binder, Executor, Signatures...> {};

}  // namespace WEFT_NAMESPACE
