// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include <weft/async/associated_allocator.hpp>
#include <weft/async/associated_executor.hpp>
#include <weft/async/async_result.hpp>
#include <weft/async/redispatched.hpp>
#include <weft/base/operation_function.hpp>
#include <weft/base/operation_memory.hpp>
#include <weft/context/handover.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/properties.hpp>
#include <weft/execution/submit.hpp>
#include <weft/execution/system_executor.hpp>

// What post, dispatch and defer have in common.
namespace WEFT_NAMESPACE::detail {

enum class submission { dispatch, post, defer };

/// Queues an operation with the scheduler of an executor of its own.
template <submission How>
void submit_natively(scheduler& to, operation* op) noexcept {
  if constexpr (How == submission::defer)
    scheduler_defer(to, op);
  else
    scheduler_post(to, op);
}

/// A polymorphic executor that holds a context's own is not asked: its scheduler is given the
/// function.
template <submission How, class Executor, class Function, class Allocator>
void submit(const Executor& ex, Function&& f, const Allocator& allocator) {
  if constexpr (How != submission::dispatch && std::is_base_of_v<any_executor_tag, Executor>)
    if (scheduler* const native = native_scheduler(ex)) {
      submit_natively<How>(*native, make_function_operation(std::forward<Function>(f), allocator));
      return;
    }
  if constexpr (How == submission::dispatch)
    detail::executor_dispatch(ex, std::forward<Function>(f), allocator);
  else if constexpr (How == submission::post)
    detail::executor_post(ex, std::forward<Function>(f), allocator);
  else
    detail::executor_defer(ex, std::forward<Function>(f), allocator);
}

/// An executor that can be told not to call inline.
template <class E>
concept postable = ts_executor<E> || (execution::executor<E> &&
                                      can_require_v<const E&, execution::blocking_t::never_t>);

/// A function that runs in the executor `Target`, and the handler that hears of it in its own one,
/// `Own`: one operation on both ways, so that executors of weft's own need no memory for the
/// second.
///
/// If `Own` throws instead of taking the handler (see handover), that is kept: `Target` is given it
/// once more, to offer it again, and what was thrown leaves the `run()` that called the function.
/// Only if the function may have been called inside its initiating function, by dispatch, the first
/// refusal is not heard of. If `Target` refuses as well, or cannot queue, the handler is lost.
template <submission How, class Function, class Handler, class Target, class Own>
class reported_operation final : public operation {
  using allocator_type = associated_allocator_t<Handler>;
  using memory = operation_owner<reported_operation, allocator_type>;
  using result = std::decay_t<std::invoke_result_t<Function>>;
  static constexpr bool has_result = !std::is_void_v<result>;
  struct no_result {};

 public:
  template <class F, class H>
  static void start(F&& function, H&& handler, const Target& target, const Own& own) {
    const allocator_type allocator(get_associated_allocator(handler));
    memory op(std::in_place, allocator, std::forward<F>(function), std::forward<H>(handler), target,
              own);
    submit<How>(target, operation_function(op.release()), allocator);
  }

  template <class F, class H>
  reported_operation(F&& f, H&& handler, const Target& target, const Own& own)
      : operation(&perform),
        target_(target),
        work_(own),
        function_(std::forward<F>(f)),
        handler_(std::forward<H>(handler)) {}

 private:
  static memory owner_of(operation* base) noexcept {
    auto* self = static_cast<reported_operation*>(base);
    return memory(self, get_associated_allocator(self->handler_));
  }

  static void dismiss(memory op) noexcept {
    Handler& handler = op->handler_;
    dismiss_operation(std::move(op), handler);
  }

  /// Calls the function, in `Target`.
  static void perform(operation* base, action what) {
    if (what == action::describe)
      return describe<Function>(base);
    memory op = owner_of(base);
    if (what == action::destroy)
      return dismiss(std::move(op));
    if constexpr (has_result)
      op->result_.emplace(std::move(op->function_)());
    else
      std::move(op->function_)();
    offer(std::move(op), How == submission::dispatch && postable<Target>);
  }

  /// Offers the handler once more, in `Target`.
  static void offer_again(operation* base, action what) {
    if (what == action::describe)
      return describe<Handler>(base, true);
    memory op = owner_of(base);
    if (what == action::invoke)
      offer(std::move(op), false);
    else
      dismiss(std::move(op));
  }

  static void offer(memory op, bool quiet) {
    reported_operation* const self = op.release();
    const allocator_type allocator(get_associated_allocator(self->handler_));
    work_tracker<Own> work(std::move(self->work_));
    self->ends_by(&arrive);
    handover given(self);
    try {
      detail::executor_dispatch(work.get_executor(), operation_function(self), allocator);
    } catch (...) {
      if (!given.is_returned())
        throw;
      memory kept(self, allocator);
      std::destroy_at(&self->work_);
      std::construct_at(&self->work_, std::move(work));
      if constexpr (postable<Target>) {
        const Target target(self->target_);
        self->ends_by(&offer_again);
        detail::executor_post(target, operation_function(kept.release()), allocator);
      }
      if (quiet)
        return;
      throw;
    }
    if (given.is_returned())
      memory(self, allocator).reset();
  }

  /// Calls the handler, in `Own`.
  static void arrive(operation* base, action what) {
    if (what == action::describe)
      return describe<Handler>(base, true);
    memory op = owner_of(base);
    if (what == action::destroy) {
      if (handover::destroyed(base))
        op.release();
      else
        dismiss(std::move(op));
      return;
    }
    handover::called(base);
    auto value = std::move(op->result_);
    Handler handler(std::move(op->handler_));
    op.reset();
    if constexpr (has_result)
      std::move(handler)(std::move(*value));
    else
      std::move(handler)();
  }

  [[no_unique_address]] Target target_;
  work_tracker<Own> work_;  // replaced as a whole: its address is its own
  Function function_;
  std::conditional_t<has_result, std::optional<result>, no_result> result_;
  Handler handler_;
};

template <submission How>
struct initiate_submission {
  template <class Handler>
  void operator()(Handler&& handler) const {
    auto allocator = get_associated_allocator(handler);
    if constexpr (How == submission::dispatch)
      submit<How>(get_associated_executor(handler), std::forward<Handler>(handler), allocator);
    else
      submit<How>(get_associated_executor(handler, system_executor()),
                  std::forward<Handler>(handler), allocator);
  }
};

/// Submits to `ex`, which is to dispatch the handler to its associated executor if that is another.
template <submission How, class Executor, class H>
void submit_handler(const Executor& ex, H&& handler) {
  using Handler = std::decay_t<H>;
  auto allocator = get_associated_allocator(handler);
  if constexpr (executor_unassociated<Handler, Executor>) {
    submit<How>(ex, std::forward<H>(handler), allocator);
  } else {
    using target = associated_executor_t<Handler, Executor>;
    const target own = get_associated_executor(handler, ex);
    if constexpr (How != submission::dispatch)
      if (scheduler* const native = native_scheduler(own);
          native && native == native_scheduler(ex)) {
        submit_natively<How>(*native, make_function_operation(std::forward<H>(handler), allocator));
        return;
      }
    if constexpr (std::is_same_v<target, Executor>) {
      if (own == ex) {
        submit<How>(ex, std::forward<H>(handler), allocator);
        return;
      }
    }
    submit<How>(ex, redispatched<Handler, target>(std::forward<H>(handler), own), allocator);
  }
}

template <submission How, class Executor>
class initiate_submission_to {
 public:
  using executor_type = Executor;

  explicit initiate_submission_to(const Executor& ex) : executor_(ex) {}
  executor_type get_executor() const noexcept { return executor_; }

  template <class H>
  void operator()(H&& handler) const {
    submit_handler<How>(executor_, std::forward<H>(handler));
  }

  template <class H, class Function>
  void operator()(H&& handler, Function&& function) const {
    using Handler = std::decay_t<H>;
    using target = associated_executor_t<Handler, Executor>;
    const target own = get_associated_executor(handler, executor_);
    reported_operation<How, std::decay_t<Function>, Handler, Executor, target>::start(
        std::forward<Function>(function), std::forward<H>(handler), executor_, own);
  }

 private:
  [[no_unique_address]] Executor executor_;
};

/// Submits a token to `ex`. A plain handler is submitted at once; the initiation, and the copy of
/// the executor in it, are left out where the executor allows it.
template <submission How, class Token, class Executor>
auto submit_token(const Executor& ex, std::type_identity_t<Token>& token) {
  if constexpr (plain_handler<Token, void()> && submits_directly<Executor>)
    submit_handler<How>(ex, static_cast<Token&&>(token));
  else
    return async_initiate<Token, void()>(initiate_submission_to<How, Executor>(ex), token);
}

template <class Result>
struct result_signature {
  using type = void(std::decay_t<Result>);
};
template <>
struct result_signature<void> {
  using type = void();
};
/// How the handler of a submitted function is called.
template <class Function>
using result_signature_t =
    typename result_signature<std::invoke_result_t<std::decay_t<Function>>>::type;

template <class Context>
using context_executor_t = typename Context::executor_type;

}  // namespace WEFT_NAMESPACE::detail
