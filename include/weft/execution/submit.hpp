// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/base/function_operation.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/properties.hpp>
#include <weft/execution/work_tracker.hpp>

// How the library hands a function to an executor of either style. `f` is a move-constructible
// nullary function, taken by copy or move; its memory comes from `allocator` if the executor lets
// it be chosen. Each throws what the allocation, the move of `f` or the executor throws; the
// function is destroyed un-called then.

namespace WEFT_NAMESPACE {
class any_io_executor;
}

namespace WEFT_NAMESPACE::detail {

/// An any_executor takes the allocator with the function: the property does not pass through its
/// type erasure.
template <class Executor, class Function, class Allocator>
void executor_execute(const Executor& ex, Function&& f, const Allocator& allocator) {
  if constexpr (requires { ex.execute(std::forward<Function>(f), allocator); })
    ex.execute(std::forward<Function>(f), allocator);
  else
    prefer(ex, execution::allocator(allocator)).execute(std::forward<Function>(f));
}

/// Runs `f` at once if the executor allows that here, else queues it.
template <class Executor, class Function, class Allocator>
void executor_dispatch(const Executor& ex, Function&& f, const Allocator& allocator) {
  if constexpr (execution::executor<Executor>)
    executor_execute(ex, std::forward<Function>(f), allocator);
  else
    ex.dispatch(std::forward<Function>(f), allocator);
}

/// An executor of weft's own that touches nothing of itself once it has handed a function over, for
/// the function may end it; and whose `post` and `defer` do what its properties would have
/// `execute` do.
template <class Executor>
inline constexpr bool submits_directly = false;

/// Queues `f`; it never runs inside this call.
template <class Executor, class Function, class Allocator>
void executor_post(const Executor& ex, Function&& f, const Allocator& allocator) {
  if constexpr (execution::executor<Executor> && !submits_directly<Executor>)
    executor_execute(prefer(require(ex, execution::blocking.never), execution::relationship.fork),
                     std::forward<Function>(f), allocator);
  else
    ex.post(std::forward<Function>(f), allocator);
}

/// Queues `f` as a continuation of the calling function, which is about to return.
template <class Executor, class Function, class Allocator>
void executor_defer(const Executor& ex, Function&& f, const Allocator& allocator) {
  if constexpr (execution::executor<Executor> && !submits_directly<Executor>)
    executor_execute(
        prefer(require(ex, execution::blocking.never), execution::relationship.continuation),
        std::forward<Function>(f), allocator);
  else
    ex.defer(std::forward<Function>(f), allocator);
}

/// The context of an executor of either style, as its own type.
template <class Executor>
decltype(auto) executor_context(const Executor& ex) noexcept {
  if constexpr (execution::executor<Executor>)
    return query(ex, execution::context);
  else
    return ex.context();
}
WEFT_API execution_context& executor_context(const any_io_executor& ex) noexcept;

/// A class with an executor type, derived from execution_context.
template <class T>
concept execution_context_type =
    std::is_convertible_v<T&, execution_context&> && requires { typename T::executor_type; };

/// An execution context from which an object with an `Executor` can be made.
template <class T, class Executor>
concept executor_source = std::convertible_to<T&, execution_context&> && requires(T& context) {
  { context.get_executor() } -> std::convertible_to<Executor>;
};

}  // namespace WEFT_NAMESPACE::detail
