// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <weft/async/associator.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/inline_executor.hpp>

namespace WEFT_NAMESPACE {

template <class T, class Executor = inline_executor>
struct associated_executor;

namespace detail {

template <class T, class Executor>
struct executor_association {
  using is_unassociated = void;
  using type = Executor;
  static type get(const T&) noexcept { return type(); }
  static const type& get(const T&, const Executor& ex) noexcept { return ex; }
};

template <class T, class Executor>
  requires requires { typename T::executor_type; }
struct executor_association<T, Executor> {
  using type = typename T::executor_type;
  static decltype(auto) get(const T& t) noexcept { return t.get_executor(); }
  static decltype(auto) get(const T& t, const Executor&) noexcept { return t.get_executor(); }
};

template <class T, class Executor>
  requires(!requires { typename T::executor_type; }) &&
          requires { typename associator<associated_executor, T, Executor>::type; }
struct executor_association<T, Executor> : associator<associated_executor, T, Executor> {};

/// Whether it is certain that `get_associated_executor(t, ex)` is `ex`.
template <class T, class Executor>
concept executor_unassociated =
    requires { typename associated_executor<T, Executor>::is_unassociated; };

}  // namespace detail

/// The executor in which `T`, a handler, is called.
///
/// Customise it by a member type `executor_type` with `get_executor() const noexcept`, by
/// specialising `associator`, or by specialising this template (`type`, `get(t)`, `get(t, ex)`).
/// Where nothing is associated, the candidate: an operation passes its I/O executor.
template <class T, class Executor>
struct associated_executor : detail::executor_association<T, Executor> {};

template <class T, class Executor = inline_executor>
using associated_executor_t = typename associated_executor<T, Executor>::type;

template <class T>
associated_executor_t<T> get_associated_executor(const T& t) noexcept {
  return associated_executor<T>::get(t);
}

template <class T, class Executor>
  requires(execution::is_executor_v<Executor> || is_executor<Executor>::value)
auto get_associated_executor(const T& t, const Executor& ex) noexcept
    -> decltype(associated_executor<T, Executor>::get(t, ex)) {
  return associated_executor<T, Executor>::get(t, ex);
}

template <class T, class ExecutionContext>
  requires std::convertible_to<ExecutionContext&, execution_context&>
auto get_associated_executor(const T& t, ExecutionContext& ctx) noexcept
    -> associated_executor_t<T, typename ExecutionContext::executor_type> {
  return associated_executor<T, typename ExecutionContext::executor_type>::get(t,
                                                                               ctx.get_executor());
}

}  // namespace WEFT_NAMESPACE
