// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/base/function_operation.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/context/strand_state.hpp>
#include <weft/context/submission.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/executor.hpp>
#include <weft/execution/properties.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// The right to run a strand, on its way through an executor that is not weft's own.
template <class Executor>
class strand_invoker {
 public:
  strand_invoker(const Executor& ex, strand_ref state) noexcept
      : executor_(ex), state_(std::move(state)) {}

  void operator()() {
    const Executor ex(executor_);
    const strand_ref state(std::move(state_));
    state->run({&resubmit, &ex});
  }

  static bool resubmit(const void* executor, strand_state& state) noexcept {
    if constexpr (postable<Executor>) {
      try {
        const auto& ex = *static_cast<const Executor*>(executor);
        state.add_reference();
        detail::executor_post(ex, strand_invoker(ex, strand_ref(&state)), std::allocator<void>());
        return true;
      } catch (...) {
        return false;
      }
    } else {
      return false;
    }
  }

 private:
  Executor executor_;
  strand_ref state_;
};

template <class Executor>
execution_context* strand_context(const Executor& ex) {
  if constexpr (requires { ex.template target<int>(); }) {
    if (!ex)
      return nullptr;
  }
  if constexpr (!execution::executor<Executor>)
    return &ex.context();
  else if constexpr (can_query_v<const Executor&, execution::context_t>)
    return &static_cast<execution_context&>(query(ex, execution::context));
  else
    return nullptr;
}

}  // namespace detail

/// An executor that runs what is submitted to it one at a time, in the order submitted, by way of
/// another executor. State that is touched only inside one strand needs no lock.
///
///     auto strand = make_strand(pool);
///     post(strand, [&] { ++counter; });
///     socket.async_read_some(buffer, bind_executor(strand, handler));
///
/// Copies of a strand, and those that `require` and `prefer` make, are the same strand. Works over
/// an executor of either style, any_io_executor, another strand. To be used from any thread.
///
/// Order: where one submission happens before another, its function runs, and has returned, before
/// the other starts. A dispatch from inside the strand runs at once. A dispatch from outside runs
/// at once if the strand is idle and the inner executor would run it at once; otherwise it waits.
///
/// Fairness: after 128 functions in a row the others in the inner executor have their turn.
///
/// Exceptions leave through the inner executor; the functions after it run all the same. When a
/// function cannot be stored (std::bad_alloc), the submission throws, and no other function is
/// lost. When the context of the inner executor is destroyed, what waits is destroyed un-called.
///
/// Cost: one short lock per submission and two per batch of waiting functions; each function's
/// memory comes from its allocator. The strand's own submission to a context of weft's needs no
/// memory and cannot fail.
template <class Executor>
class strand {
 public:
  using inner_executor_type = Executor;

  /// A new strand over a default-constructed executor.
  strand()
    requires std::default_initializable<Executor>
      : executor_(), state_(detail::strand_state::create(detail::strand_context(executor_))) {}

  /// A new strand over `ex`. Throws std::bad_alloc.
  template <class Executor1>
    requires(!std::same_as<Executor1, strand> && std::convertible_to<const Executor1&, Executor>)
  explicit strand(const Executor1& ex)
      : executor_(ex), state_(detail::strand_state::create(detail::strand_context(executor_))) {}

  strand(const strand&) noexcept = default;
  strand(strand&&) noexcept = default;
  strand& operator=(const strand&) noexcept = default;
  strand& operator=(strand&&) noexcept = default;

  template <class OtherExecutor>
    requires std::convertible_to<OtherExecutor, Executor>
  strand(const strand<OtherExecutor>& other) noexcept
      : executor_(other.executor_), state_(other.state_) {}
  template <class OtherExecutor>
    requires std::convertible_to<OtherExecutor, Executor>
  strand(strand<OtherExecutor>&& other) noexcept
      : executor_(std::move(other.executor_)), state_(std::move(other.state_)) {}

  inner_executor_type get_inner_executor() const noexcept { return executor_; }

  /// Whether the calling thread is running a function of this strand.
  bool running_in_this_thread() const noexcept { return state_->running_in_this_thread(); }

  // ---- properties: those of the inner executor

  template <class Property>
    requires(can_query_v<const Executor&, Property> &&
             !std::convertible_to<Property, execution::blocking_t>)
  query_result_t<const Executor&, Property> query(const Property& p) const
      noexcept(is_nothrow_query_v<const Executor&, Property>) {
    return WEFT_NAMESPACE::query(executor_, p);
  }

  /// What the inner executor says, but never `always`.
  template <class Property>
    requires(can_query_v<const Executor&, Property> &&
             std::convertible_to<Property, execution::blocking_t>)
  execution::blocking_t query(const Property& p) const
      noexcept(is_nothrow_query_v<const Executor&, Property>) {
    const execution::blocking_t inner = WEFT_NAMESPACE::query(executor_, p);
    return inner == execution::blocking.always ? execution::blocking_t(execution::blocking.possibly)
                                               : inner;
  }

  template <class Property>
    requires(can_require_v<const Executor&, Property> &&
             !std::convertible_to<Property, execution::blocking_t::always_t>)
  auto require(const Property& p) const noexcept(is_nothrow_require_v<const Executor&, Property>) {
    return with(WEFT_NAMESPACE::require(executor_, p));
  }

  template <class Property>
    requires(can_prefer_v<const Executor&, Property> &&
             !std::convertible_to<Property, execution::blocking_t::always_t>)
  auto prefer(const Property& p) const noexcept(is_nothrow_prefer_v<const Executor&, Property>) {
    return with(WEFT_NAMESPACE::prefer(executor_, p));
  }

  /// Runs `f` in the strand, at once only if the `blocking` property is not `never`.
  template <class Function>
    requires execution::executor<Executor>
  void execute(Function&& f) const {
    if constexpr (can_query_v<const Executor&, execution::allocator_t<void>>)
      execute(std::forward<Function>(f),
              WEFT_NAMESPACE::query(executor_, execution::allocator_t<void>()));
    else
      execute(std::forward<Function>(f), std::allocator<void>());
  }

  /// The same, with memory from `allocator`.
  template <class Function, class Allocator>
    requires execution::executor<Executor>
  void execute(Function&& f, const Allocator& allocator) const {
    if (may_block() && run_now<Function>(f))
      return;
    submit(std::forward<Function>(f), allocator, [](const Executor& ex, auto&& invoker) {
      detail::executor_execute(ex, std::move(invoker), std::allocator<void>());
    });
  }

  // ---- Networking TS members

  decltype(auto) context() const noexcept { return detail::executor_context(executor_); }

  void on_work_started() const noexcept
    requires requires(const Executor& ex) { ex.on_work_started(); }
  {
    executor_.on_work_started();
  }
  void on_work_finished() const noexcept
    requires requires(const Executor& ex) { ex.on_work_finished(); }
  {
    executor_.on_work_finished();
  }

  template <class Function, class Allocator>
  void dispatch(Function&& f, const Allocator& allocator) const {
    if (run_now<Function>(f))
      return;
    submit(std::forward<Function>(f), allocator, [](const Executor& ex, auto&& invoker) {
      detail::executor_dispatch(ex, std::move(invoker), std::allocator<void>());
    });
  }
  template <class Function, class Allocator>
  void post(Function&& f, const Allocator& allocator) const {
    submit(std::forward<Function>(f), allocator, [](const Executor& ex, auto&& invoker) {
      detail::executor_post(ex, std::move(invoker), std::allocator<void>());
    });
  }
  template <class Function, class Allocator>
  void defer(Function&& f, const Allocator& allocator) const {
    submit(std::forward<Function>(f), allocator, [](const Executor& ex, auto&& invoker) {
      detail::executor_defer(ex, std::move(invoker), std::allocator<void>());
    });
  }

  /// Whether both are the same strand.
  friend bool operator==(const strand& a, const strand& b) noexcept { return a.state_ == b.state_; }

 private:
  template <class>
  friend class strand;

  strand(Executor ex, detail::strand_ref state) noexcept
      : executor_(std::move(ex)), state_(std::move(state)) {}

  template <class Other>
  strand<std::decay_t<Other>> with(Other&& ex) const noexcept {
    return strand<std::decay_t<Other>>(std::forward<Other>(ex), state_);
  }

  bool may_block() const noexcept {
    if constexpr (can_query_v<const Executor&, execution::blocking_t>)
      return execution::blocking_t(WEFT_NAMESPACE::query(executor_, execution::blocking)) !=
             execution::blocking.never;
    else
      return true;
  }

  /// Runs `f` if this thread is inside the strand, or inside a scheduler of weft's own while the
  /// strand is idle. `f` is untouched if not.
  template <class Function>
  bool run_now(std::remove_reference_t<Function>& f) const {
    struct call {
      static void now(void* argument) {
        auto& function = *static_cast<std::remove_reference_t<Function>*>(argument);
        std::decay_t<Function> local(static_cast<Function&&>(function));
        std::move(local)();
      }
    };
    void* const argument = const_cast<void*>(static_cast<const void*>(std::addressof(f)));
    if (state_->running_in_this_thread()) {
      call::now(argument);
      return true;
    }
    detail::scheduler* native = detail::native_scheduler(executor_);
    if (!native || !detail::scheduler_running_in_this_thread(*native) || !state_->try_enter())
      return false;
    const detail::strand_ref state(state_);
    state->run_on(*native, {&call::now, argument});
    return true;
  }

  template <class Function, class Allocator, class Submit>
  void submit(Function&& f, const Allocator& allocator, Submit submit_invoker) const {
    detail::operation* op = detail::make_function_operation(std::forward<Function>(f), allocator);
    // Until the strand is submitted nobody runs `f`; from then on `f` may end this object.
    if (!state_->push(op))
      return;
    if (detail::scheduler* native = detail::native_scheduler(executor_)) {
      state_->schedule(*native);
      return;
    }
    using invoker = detail::strand_invoker<Executor>;
    const detail::strand_ref state(state_);
    const Executor executor(executor_);
    const unsigned ticket = state->ticket();
    try {
      submit_invoker(executor, invoker(executor, state));
    } catch (...) {
      state->submission_failed(ticket, op, {&invoker::resubmit, std::addressof(executor)});
      throw;
    }
  }

  Executor executor_;
  detail::strand_ref state_;
};

namespace detail {

template <class Executor>
inline constexpr bool submits_directly<strand<Executor>> = true;

}  // namespace detail

/// A new strand over an executor of either style. Throws std::bad_alloc.
template <detail::any_style_executor Executor>
strand<Executor> make_strand(const Executor& ex) {
  return strand<Executor>(ex);
}

/// A new strand over a context's executor.
template <detail::execution_context_type ExecutionContext>
strand<typename ExecutionContext::executor_type> make_strand(ExecutionContext& ctx) {
  return strand<typename ExecutionContext::executor_type>(ctx.get_executor());
}

}  // namespace WEFT_NAMESPACE
