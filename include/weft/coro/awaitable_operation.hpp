// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/associated_executor.hpp>
#include <weft/async/deferred.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/task.hpp>
#include <weft/execution/system_executor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Called>
struct initiate_coroutine {
  using executor_type = typename executor_to_spawn<Called>::type;

  template <class Handler>
  void operator()(Handler&& handler, Called start) const {
    const executor_type executor(get_associated_executor(handler, system_executor()));
    initiate_spawn<Called, executor_type> spawn(executor);
    spawn(std::forward<Handler>(handler), std::move(start));
  }
};

template <class Called>
auto coroutine_operation(Called start) {
  return deferred_async_operation<typename spawn_signature<typename Called::value_type>::type,
                                  initiate_coroutine<Called>, Called>(
      deferred_init_tag(), initiate_coroutine<Called>(), std::move(start));
}

}  // namespace detail

/// An awaitable, or a task, as an asynchronous operation, which starts it as co_spawn does, in the
/// handler's associated executor. With it they join when_all, when_any, when_some and parallel
/// groups.
template <class T, class Executor>
auto as_async_operation(awaitable<T, Executor> start) {
  return detail::coroutine_operation(std::move(start));
}
template <class T>
auto as_async_operation(task<T> start) {
  return detail::coroutine_operation(std::move(start));
}

}  // namespace WEFT_NAMESPACE
