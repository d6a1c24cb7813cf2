// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <weft/base/error.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/awaitable_operation.hpp>
#include <weft/experimental/parallel_group.hpp>
#include <weft/multiple_exceptions.hpp>
#include <weft/sync/group_outcome.hpp>
#include <weft/sync/when_some.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// The first that fails cancels the other.
struct cancel_on_failure {
  cancellation_type operator()(std::size_t, const outcome_error& ended) const noexcept {
    return ended.has_error() ? cancellation_type::all : cancellation_type::none;
  }
};
/// The first that succeeds cancels the other.
struct cancel_on_success {
  cancellation_type operator()(std::size_t, const outcome_error& ended) const noexcept {
    return ended.has_error() ? cancellation_type::none : cancellation_type::all;
  }
};

template <class Op>
using operand_value_t = typename group_outcome_t<group_operation_t<Op>>::value_type;

/// The executor of what two operands make: that of the one which is an awaitable.
template <class T, class U>
struct operand_executor {
  using type = any_io_executor;
};
template <class T, class Executor, class U>
struct operand_executor<awaitable<T, Executor>, U> {
  using type = Executor;
};
template <class T, class U, class Executor>
struct operand_executor<T, awaitable<U, Executor>> {
  using type = Executor;
};
template <class T, class U, class Executor>
struct operand_executor<awaitable<T, Executor>, awaitable<U, Executor>> {
  using type = Executor;
};

/// `T && U`: a tuple of what is not void; the one alone, if there is one. A tuple on the left is
/// continued.
template <class T>
struct and_values {
  using type = std::tuple<T>;
  static type of(outcome<T>& o) { return type(std::move(o).get()); }
};
template <>
struct and_values<void> {
  using type = std::tuple<>;
  static type of(outcome<void>&) { return {}; }
};
template <class... T>
struct and_values<std::tuple<T...>> {
  using type = std::tuple<T...>;
  static type of(outcome<type>& o) { return std::move(o).get(); }
};

template <class Tuple>
struct and_result {
  using type = Tuple;
};
template <>
struct and_result<std::tuple<>> {
  using type = void;
};
template <class T>
struct and_result<std::tuple<T>> {
  using type = T;
};
template <class T, class U>
struct right_values : and_values<U> {};
template <class T, class... U>
  requires(!std::is_void_v<T>)
struct right_values<T, std::tuple<U...>> {
  using type = std::tuple<std::tuple<U...>>;
  static type of(outcome<std::tuple<U...>>& o) { return type(std::move(o).get()); }
};
template <class T, class U>
using and_tuple_t = decltype(std::tuple_cat(std::declval<typename and_values<T>::type>(),
                                            std::declval<typename right_values<T, U>::type>()));
template <class T, class U>
using and_result_t = typename and_result<and_tuple_t<T, U>>::type;

/// `T || U`: a variant, std::monostate for void. A variant on the left is continued.
template <class T>
using or_value_t = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
template <class T, class U>
struct or_result {
  using type = std::variant<or_value_t<T>, or_value_t<U>>;
};
template <class... T, class U>
struct or_result<std::variant<T...>, U> {
  using type = std::variant<T..., or_value_t<U>>;
};

/// The same alternative of a variant that begins as `v` does.
template <class Result, std::size_t I = 0, class... T>
Result widen(std::variant<T...>&& v) {
  if constexpr (I + 1 < sizeof...(T))
    if (v.index() != I)
      return widen<Result, I + 1>(std::move(v));
  return Result(std::in_place_index<I>, std::get<I>(std::move(v)));
}

template <class T>
inline constexpr bool is_variant = false;
template <class... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

/// What has succeeded, as alternative I.
template <class Result, std::size_t I, class T>
Result or_alternative(outcome<T>& o) {
  if constexpr (std::is_void_v<T>)
    return Result(std::in_place_index<I>);
  else
    return Result(std::in_place_index<I>, std::move(o).get());
}

/// Whether this is what a cancelled operation says.
inline bool says_aborted(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const system_error& e) {
    return e.code() == error::operation_aborted;
  } catch (...) {
    return false;
  }
}

/// Throws for two that have both failed, `first` before `second`.
[[noreturn]] inline void throw_both(const std::exception_ptr& first,
                                    const std::exception_ptr& second) {
  if (says_aborted(second))
    std::rethrow_exception(first);
  throw multiple_exceptions(first);
}

}  // namespace detail

namespace experimental {

/// `&&` and `||` for awaitables, tasks, and operations without a token, in coroutines:
///
///     using namespace weft::experimental::awaitable_operators;
///     auto n = co_await (async_read(socket, buffer(data)) || timer.async_wait());
///     if (n.index() == 0)
///       use(std::get<0>(n));
///
/// Both operands run at a time, in the executor of the coroutine that awaits them, and are
/// cancelled with it. Nothing runs before the result is awaited.
namespace awaitable_operators {

/// Waits for both. The first that fails cancels the other, and its exception is thrown when that
/// one has ended, too; multiple_exceptions, if that has failed otherwise than by being cancelled.
/// Gives a tuple of the values that are not void, or the only one. A tuple on the left is
/// continued: `a && b && c` gives three.
template <class T, class U>
  requires detail::groupable<T> && detail::groupable<U>
awaitable<detail::and_result_t<detail::operand_value_t<T>, detail::operand_value_t<U>>,
          typename detail::operand_executor<T, U>::type>
operator&&(T t, U u) {
  using left = detail::operand_value_t<T>;
  using right = detail::operand_value_t<U>;
  auto [order, ended] =
      co_await detail::make_group<detail::keep_ordered_outcomes, detail::finish_some>(
          detail::cancel_on_failure(), std::move(t), std::move(u));
  auto& [a, b] = ended;
  if (a.has_error() && b.has_error()) {
    if (order[0] == 0)
      detail::throw_both(a.error(), b.error());
    detail::throw_both(b.error(), a.error());
  }
  if (a.has_error())
    std::rethrow_exception(a.error());
  if (b.has_error())
    std::rethrow_exception(b.error());
  auto both =
      std::tuple_cat(detail::and_values<left>::of(a), detail::right_values<left, right>::of(b));
  if constexpr (std::tuple_size_v<decltype(both)> == 1)
    co_return std::get<0>(std::move(both));
  else if constexpr (std::tuple_size_v<decltype(both)> != 0)
    co_return both;
}

/// Waits for the first that succeeds, cancels the other, and waits for its end. Throws
/// multiple_exceptions if both have failed. Gives a variant, with std::monostate for void. A
/// variant on the left is continued: `a || b || c` gives three alternatives. What the loser has
/// done all the same is lost: when_any tells.
template <class T, class U>
  requires detail::groupable<T> && detail::groupable<U>
awaitable<typename detail::or_result<detail::operand_value_t<T>, detail::operand_value_t<U>>::type,
          typename detail::operand_executor<T, U>::type>
operator||(T t, U u) {
  using left = detail::operand_value_t<T>;
  using result = typename detail::or_result<left, detail::operand_value_t<U>>::type;
  auto [order, ended] =
      co_await detail::make_group<detail::keep_ordered_outcomes, detail::finish_some>(
          detail::cancel_on_success(), std::move(t), std::move(u));
  auto& [a, b] = ended;
  if (a.has_error() && b.has_error())
    throw multiple_exceptions(order[0] == 0 ? a.error() : b.error());
  const bool first_wins = b.has_error() || (a.has_value() && order[0] == 0);
  if constexpr (detail::is_variant<left>) {
    if (first_wins)
      co_return detail::widen<result>(std::move(a).get());
  } else {
    if (first_wins)
      co_return detail::or_alternative<result, 0>(a);
  }
  co_return detail::or_alternative<result, std::variant_size_v<result> - 1>(b);
}

}  // namespace awaitable_operators
}  // namespace experimental
}  // namespace WEFT_NAMESPACE
