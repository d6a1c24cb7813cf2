// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/coro/awaitable.hpp>
#include <weft/coro/task_group.hpp>
#include <weft/coro/this_coro.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

template <class Awaitable>
struct group_body;
template <class T, class Executor>
struct group_body<awaitable<T, Executor>> {
  static_assert(!std::is_reference_v<T>,
                "the body of a task_group returns void or a value: what a reference names may end "
                "with the group");
  using value = std::conditional_t<std::is_void_v<T>, char, T>;
  using without_value = awaitable<void, Executor>;
};

/// What the body of a structured group is called with, and what it returns.
template <class Body>
concept task_group_body =
    requires { typename group_body<std::invoke_result_t<Body&, task_group&>>::value; };

}  // namespace detail

/// Runs `body(group)` and whatever it starts in the group, and ends when all of that has ended:
///
///     const int n = co_await with_task_group([&](task_group& group) -> awaitable<int> {
///       group.spawn(left());
///       group.spawn(right());
///       co_return co_await middle();
///     });
///
/// The body is a child among the others: it runs beside them, and is cancelled with them. It may
/// return before they have ended. Gives what it returned, or throws what the join reports: so if
/// anything has failed, after the rest was cancelled. When the coroutine that waits is cancelled,
/// so are all of them, and it throws operation_aborted if one of them has obeyed. So it is with a
/// coroutine that has been cancelled before, if that has neither thrown
/// (this_coro::throw_if_cancelled) nor been forgotten (this_coro::reset_cancellation_state).
///
/// The group's executor is that of the coroutine; `body` is kept until all has ended, so that a
/// lambda may use its captures in the coroutine.
///
/// g++ 12 destroys twice what a lambda has captured by copy that is written in the operand of a
/// co_await: capture by reference there, or name the lambda before, and move it.
template <detail::task_group_body Body>
std::invoke_result_t<Body&, task_group&> with_task_group(
    Body body, task_group_options options = {},
    std::source_location where = std::source_location::current()) {
  using awaitable_type = std::invoke_result_t<Body&, task_group&>;
  using returned = detail::group_body<awaitable_type>;
  constexpr bool has_value = !std::is_void_v<typename awaitable_type::value_type>;

  const auto executor = co_await this_coro::executor;
  task_group group(executor, options);
  std::optional<typename returned::value> value;
  const auto run = [&]() -> typename returned::without_value {
    if constexpr (has_value)
      value.emplace(co_await body(group));
    else
      co_await body(group);
  };
  group.spawn(executor, run, where);
  const bool throws = co_await this_coro::throw_if_cancelled();
  co_await this_coro::throw_if_cancelled(true);
  std::exception_ptr error;
  try {
    co_await group.async_join();
  } catch (...) {
    error = std::current_exception();
  }
  co_await this_coro::throw_if_cancelled(false);
  // If the coroutine had been cancelled before it came to the join, that was not begun. If it was,
  // nothing is left to join.
  if (error) {
    group.cancel();
    try {
      co_await group.async_join();
    } catch (...) {
      error = std::current_exception();
    }
  }
  co_await this_coro::throw_if_cancelled(throws);
  if (error)
    std::rethrow_exception(std::move(error));
  if constexpr (has_value)
    co_return *std::move(value);
}

}  // namespace WEFT_NAMESPACE
