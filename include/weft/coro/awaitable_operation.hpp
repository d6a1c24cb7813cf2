// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/associated_executor.hpp>
#include <weft/async/deferred.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/execution/system_executor.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T, class Executor>
struct initiate_awaitable {
  template <class Handler>
  void operator()(Handler&& handler, awaitable<T, Executor> start) const {
    const Executor executor(get_associated_executor(handler, system_executor()));
    initiate_spawn<awaitable<T, Executor>, Executor> spawn(executor);
    spawn(std::forward<Handler>(handler), std::move(start));
  }
};

}  // namespace detail

/// An awaitable as an asynchronous operation, which starts it as co_spawn does, in the handler's
/// associated executor. With it awaitables join when_all, when_any, when_some and parallel groups.
template <class T, class Executor>
auto as_async_operation(awaitable<T, Executor> start) {
  return deferred_async_operation<typename detail::spawn_signature<T>::type,
                                  detail::initiate_awaitable<T, Executor>, awaitable<T, Executor>>(
      deferred_init_tag(), detail::initiate_awaitable<T, Executor>(), std::move(start));
}

}  // namespace WEFT_NAMESPACE
