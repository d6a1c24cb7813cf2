// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_immediate_executor.hpp>
#include <weft/async/async_result.hpp>
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
    auto ex = get_associated_immediate_executor(handler, executor_);
    auto allocator = get_associated_allocator(handler);
    detail::executor_dispatch(ex, std::forward<Handler>(handler), allocator);
  }

 private:
  [[no_unique_address]] Executor executor_;
};

}  // namespace detail

/// An operation that is complete at once: dispatches the handler to its associated immediate
/// executor, which by default means that it is posted to `ex`. For composed operations that find
/// nothing to do.
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
