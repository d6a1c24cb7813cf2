// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/redispatched.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

template <class Executor>
class initiate_immediate {
 public:
  using executor_type = Executor;

  explicit initiate_immediate(const Executor& ex) : executor_(ex) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class Handler>
  void operator()(Handler&& handler) const {
    using handler_type = std::decay_t<Handler>;
    auto ex = get_associated_immediate_executor(handler, executor_);
    auto allocator = get_associated_allocator(handler);
    if constexpr (executor_unassociated<handler_type, Executor>) {
      detail::executor_dispatch(ex, std::forward<Handler>(handler), allocator);
    } else {
      const auto own = get_associated_executor(handler, executor_);
      detail::executor_dispatch(ex,
                                redispatched<handler_type, std::decay_t<decltype(own)>>(
                                    std::forward<Handler>(handler), own),
                                allocator);
    }
  }

 private:
  [[no_unique_address]] Executor executor_;
};

}  // namespace detail

/// An operation that is complete at once: dispatches the handler to its associated immediate
/// executor, which by default means that it is posted to `ex`, and from there to its associated
/// executor if that is another one. For composed operations that find nothing to do.
///
/// Completion signature: `void()`. Errors: throws what the allocation throws. Cancellation: none.
template <detail::any_style_executor Executor,
          detail::token_or_handler_for<void()> NullaryToken = default_completion_token_t<Executor>>
auto async_immediate(const Executor& ex,
                     NullaryToken&& token = default_completion_token_t<Executor>()) {
  return async_initiate<NullaryToken, void()>(detail::initiate_immediate<Executor>(ex), token);
}

/// The same, with the executor of `ctx`.
template <detail::execution_context_type ExecutionContext,
          detail::token_or_handler_for<void()> NullaryToken =
              default_completion_token_t<typename ExecutionContext::executor_type>>
auto async_immediate(
    ExecutionContext& ctx,
    NullaryToken&& token = default_completion_token_t<typename ExecutionContext::executor_type>()) {
  return async_immediate(ctx.get_executor(), std::forward<NullaryToken>(token));
}

}  // namespace WEFT_NAMESPACE
