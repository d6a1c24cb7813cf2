// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/submission.hpp>

namespace WEFT_NAMESPACE {

/// Runs a function in the handler's associated executor: at once, before `dispatch` returns, if the
/// executor permits (the caller is running inside it); otherwise queued, as by `post`.
///
///     dispatch(strand, [this] { ++counter_; });
///
/// Completion signature: `void()`. With no associated executor it is called at once.
/// The memory comes from the handler's associated allocator, and is returned before it is called.
/// Errors: throws what the allocation, or moving the handler, throws; the handler is lost then.
/// Cancellation: none. Thread safety: any thread. O(1).
template <detail::token_or_handler_for<void()> NullaryToken = deferred_t>
auto dispatch(NullaryToken&& token = NullaryToken()) {
  return async_initiate<NullaryToken, void()>(
      detail::initiate_submission<detail::submission::dispatch>(), token);
}

/// Submits to `ex`. If the handler has another associated executor, work is kept outstanding on
/// that one, and the handler is dispatched to it from `ex`.
template <detail::any_style_executor Executor,
          detail::token_or_handler_for<void()> NullaryToken = default_completion_token_t<Executor>>
auto dispatch(const Executor& ex, NullaryToken&& token = default_completion_token_t<Executor>()) {
  return detail::submit_token<detail::submission::dispatch, NullaryToken>(ex, token);
}

/// Submits to the executor of `ctx`.
template <detail::execution_context_type Context,
          detail::token_or_handler_for<void()> NullaryToken =
              default_completion_token_t<detail::context_executor_t<Context>>>
auto dispatch(Context& ctx, NullaryToken&& token =
                                default_completion_token_t<detail::context_executor_t<Context>>()) {
  return detail::submit_token<detail::submission::dispatch, NullaryToken>(ctx.get_executor(),
                                                                          token);
}

/// Runs `function` in `ex`, and then dispatches the handler, with the function's result, to its
/// associated executor. Completion signature: `void(R)`, or `void()` if `function` returns nothing.
/// What `function` throws goes to whoever runs `ex`; the handler is then destroyed un-called.
template <class Function, detail::any_style_executor Executor,
          class Token = default_completion_token_t<Executor>>
  requires std::invocable<std::decay_t<Function>>
auto dispatch(Function&& function, const Executor& ex,
              Token&& token = default_completion_token_t<Executor>()) {
  return async_initiate<Token, detail::result_signature_t<Function>>(
      detail::initiate_submission_to<detail::submission::dispatch, Executor>(ex), token,
      std::forward<Function>(function));
}

/// Runs `function` in the executor of `ctx`; the same otherwise.
template <class Function, detail::execution_context_type Context,
          class Token = default_completion_token_t<detail::context_executor_t<Context>>>
  requires std::invocable<std::decay_t<Function>>
auto dispatch(Function&& function, Context& ctx,
              Token&& token = default_completion_token_t<detail::context_executor_t<Context>>()) {
  using executor_type = detail::context_executor_t<Context>;
  return async_initiate<Token, detail::result_signature_t<Function>>(
      detail::initiate_submission_to<detail::submission::dispatch, executor_type>(
          ctx.get_executor()),
      token, std::forward<Function>(function));
}

}  // namespace WEFT_NAMESPACE
