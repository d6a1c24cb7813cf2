// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/awaitable_promise.hpp>

#include <stdexcept>

namespace WEFT_NAMESPACE::detail {

void throw_cancelled() {
  throw system_error(error::operation_aborted, "co_await");
}

void throw_no_executor() {
  throw std::logic_error(
      "co_await of an asynchronous operation needs an executor: start the outermost coroutine with "
      "co_spawn");
}

void throw_other_executor_type() {
  throw std::logic_error(
      "a task awaits an awaitable of another executor type than the coroutine has been started "
      "with: name that in awaitable<T, Executor>");
}

}  // namespace WEFT_NAMESPACE::detail
