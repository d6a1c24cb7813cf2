// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/context/submission.hpp>

namespace WEFT_NAMESPACE {

/// As `post`, with the hint that the function continues what the calling handler is doing. Where
/// several threads run, an io_context or thread_pool then runs it next, on the same thread, before
/// what was queued there earlier, while what it works on is in the processor's caches; but the
/// first only of those that a handler defers, and at most three in a row. Where one thread runs, it
/// is the same as `post`: all goes in order.
///
///     defer(ctx, [self = std::move(self)] { self->next_step(); });
///
/// Completion signature: `void()`. With no associated executor, the system executor runs it.
/// The memory comes from the handler's associated allocator, and is returned before it is called.
/// Errors: throws what the allocation, or moving the handler, throws; the handler is lost then.
/// Cancellation: none. Thread safety: any thread. O(1).
template <detail::token_or_handler_for<void()> NullaryToken = deferred_t>
auto defer(NullaryToken&& token = NullaryToken()) {
  return async_initiate<NullaryToken, void()>(
      detail::initiate_submission<detail::submission::defer>(), token);
}

/// Submits to `ex`. If the handler has another associated executor, work is kept outstanding on
/// that one, and the handler is dispatched to it from `ex`.
template <detail::postable Executor,
          detail::token_or_handler_for<void()> NullaryToken = default_completion_token_t<Executor>>
auto defer(const Executor& ex, NullaryToken&& token = default_completion_token_t<Executor>()) {
  return detail::submit_token<detail::submission::defer, NullaryToken>(ex, token);
}

/// Submits to the executor of `ctx`.
template <detail::execution_context_type Context,
          detail::token_or_handler_for<void()> NullaryToken =
              default_completion_token_t<detail::context_executor_t<Context>>>
auto defer(Context& ctx, NullaryToken&& token =
                             default_completion_token_t<detail::context_executor_t<Context>>()) {
  return detail::submit_token<detail::submission::defer, NullaryToken>(ctx.get_executor(), token);
}

/// Runs `function` in `ex`, and then dispatches the handler, with the function's result, to its
/// associated executor. Completion signature: `void(R)`, or `void()` if `function` returns nothing.
/// What `function` throws goes to whoever runs `ex`; the handler is then destroyed un-called.
template <class Function, detail::postable Executor,
          class Token = default_completion_token_t<Executor>>
  requires std::invocable<std::decay_t<Function>>
auto defer(Function&& function, const Executor& ex,
           Token&& token = default_completion_token_t<Executor>()) {
  return async_initiate<Token, detail::result_signature_t<Function>>(
      detail::initiate_submission_to<detail::submission::defer, Executor>(ex), token,
      std::forward<Function>(function));
}

/// Runs `function` in the executor of `ctx`; the same otherwise.
template <class Function, detail::execution_context_type Context,
          class Token = default_completion_token_t<detail::context_executor_t<Context>>>
  requires std::invocable<std::decay_t<Function>>
auto defer(Function&& function, Context& ctx,
           Token&& token = default_completion_token_t<detail::context_executor_t<Context>>()) {
  using executor_type = detail::context_executor_t<Context>;
  return async_initiate<Token, detail::result_signature_t<Function>>(
      detail::initiate_submission_to<detail::submission::defer, executor_type>(ctx.get_executor()),
      token, std::forward<Function>(function));
}

}  // namespace WEFT_NAMESPACE
