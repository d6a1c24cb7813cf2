// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/deferred.hpp>
#include <weft/async/executor_with_default.hpp>
#include <weft/coro/awaitable.hpp>

namespace WEFT_NAMESPACE {

/// The token that makes an initiating function return an awaitable: what programs written for
/// Asio name in `co_await socket.async_read_some(buffer, use_awaitable)`. Without a token the
/// operation is awaited directly, which needs no coroutine of its own.
///
/// The operation starts when the awaitable is awaited. It completes as co_await of the operation
/// does: an error is thrown as system_error. Of operations with several completion signatures none
/// is served.
template <class Executor = any_io_executor>
class use_awaitable_t : public detail::default_token<use_awaitable_t<Executor>> {
 public:
  constexpr use_awaitable_t() = default;
};

inline constexpr use_awaitable_t<> use_awaitable;

template <class Executor, class Signature>
class async_result<use_awaitable_t<Executor>, Signature> {
  using result = typename detail::awaited_results_t<Signature>::type;

 public:
  using return_type = awaitable<result, Executor>;

  template <class Initiation, class Token, class... Args>
  static return_type initiate(Initiation&& initiation, Token&&, Args&&... args) {
    return wait(
        deferred_async_operation<Signature, std::decay_t<Initiation>, std::decay_t<Args>...>(
            deferred_init_tag(), std::forward<Initiation>(initiation),
            std::forward<Args>(args)...));
  }

 private:
  template <class Operation>
  static return_type wait(Operation operation) {
    co_return co_await std::move(operation);
  }
};

}  // namespace WEFT_NAMESPACE
