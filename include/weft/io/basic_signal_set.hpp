// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/base/error.hpp>
#include <weft/context/handler_operation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/signal_set_base.hpp>
#include <weft/io/signal_set_state.hpp>

namespace WEFT_NAMESPACE {

/// Waits for signals of the process.
///
///     signal_set signals(context, SIGINT, SIGTERM);
///     signals.async_wait([&](error_code ec, int signal_number) {
///       if (!ec) context.stop();
///     });
///
/// While a signal is in a set, its default action does not happen. When it is raised, it reaches
/// every set that it is in, in whatever contexts they are: the wait of that set that was started
/// first completes, or, if there is none, a notification is queued. A later wait takes the queued
/// ones, one each, by ascending signal number. Like the kernel, which merges a signal that is
/// raised again before it is delivered, but never fewer than one.
///
/// The process's disposition of a signal is taken over when the first set adds it, and given back
/// as it was when the last set removes it, unless somebody else has changed it meanwhile. Handlers
/// are ordinary functions: they may do what a signal handler may not. For a signal to arrive at
/// all, some thread must have it unblocked.
///
/// After a fork, the child's sets work on, once notify_fork has been called on their contexts: each
/// process sees its own signals.
///
/// Cost: two descriptors for each context with sets. One lock for the process, never held while a
/// handler is called or anything blocks.
///
/// Thread safety: all members but the constructors and the destructor may be called from any
/// thread.
template <class Executor = any_io_executor>
class basic_signal_set : public signal_set_base {
 public:
  using executor_type = Executor;

  /// The same set type with another executor.
  template <class Executor1>
  struct rebind_executor {
    using other = basic_signal_set<Executor1>;
  };

  /// An empty set, or one of the given signals. Its handlers run by default in `ex`. Throws
  /// system_error: what `add` reports, or no_descriptors.
  explicit basic_signal_set(const executor_type& ex)
      : executor_(ex), state_(detail::executor_context(executor_)) {}
  template <std::same_as<int>... Signals>
    requires(sizeof...(Signals) >= 1 && sizeof...(Signals) <= 3)
  basic_signal_set(const executor_type& ex, Signals... signal_numbers) : basic_signal_set(ex) {
    (add(signal_numbers), ...);
  }

  /// The same, with the executor of `context`.
  template <detail::execution_context_type ExecutionContext>
  explicit basic_signal_set(ExecutionContext& context)
      : basic_signal_set(executor_type(context.get_executor())) {}
  template <detail::execution_context_type ExecutionContext, std::same_as<int>... Signals>
    requires(sizeof...(Signals) >= 1 && sizeof...(Signals) <= 3)
  basic_signal_set(ExecutionContext& context, Signals... signal_numbers)
      : basic_signal_set(executor_type(context.get_executor()), signal_numbers...) {}

  basic_signal_set(const basic_signal_set&) = delete;
  basic_signal_set& operator=(const basic_signal_set&) = delete;

  /// Cancels the waits and removes all signals.
  ~basic_signal_set() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Adds a signal. Nothing happens if it is in the set. Errors: invalid_argument for a number that
  /// is no signal, for SIGKILL and SIGSTOP, and if both `f` and an earlier registration of the
  /// signal, in any set, name flags and not the same ones; no_memory.
  void add(int signal_number) { add(signal_number, flags::dont_care); }
  void add(int signal_number, error_code& ec) { add(signal_number, flags::dont_care, ec); }
  void add(int signal_number, flags_t f) {
    detail::throw_if(state_.add(signal_number, f), "signal_set::add");
  }
  void add(int signal_number, flags_t f, error_code& ec) { ec = state_.add(signal_number, f); }

  /// Removes a signal, with its queued notifications. Nothing happens if it is not in the set.
  /// Errors: invalid_argument for a number that is no signal.
  void remove(int signal_number) {
    detail::throw_if(state_.remove(signal_number), "signal_set::remove");
  }
  void remove(int signal_number, error_code& ec) { ec = state_.remove(signal_number); }

  /// Removes all signals, with all queued notifications.
  void clear() { detail::throw_if(state_.clear(), "signal_set::clear"); }
  void clear(error_code& ec) { ec = state_.clear(); }

  /// Cancels all waits: they report error::operation_aborted. One that a signal has reached already
  /// is not among them. The signals stay in the set.
  void cancel() { state_.cancel(); }
  void cancel(error_code& ec) {
    ec = error_code();
    state_.cancel();
  }

  /// Waits for a signal of the set. The handler is never called from inside this function.
  ///
  /// Completion: `void (error_code, int signal_number)`: success, or error::operation_aborted, with
  /// the number 0, if it was cancelled. Cancellation: by `cancel`; by its slot (terminal, partial,
  /// total). No notification is lost. Throws what the allocation, or moving the handler, throws.
  template <completion_token_for<void(error_code, int)> SignalToken =
                default_completion_token_t<executor_type>>
  auto async_wait(SignalToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<SignalToken, void(error_code, int)>(initiate_async_wait(this), token);
  }

 private:
  class initiate_async_wait {
   public:
    using executor_type = Executor;

    explicit initiate_async_wait(basic_signal_set* self) noexcept : self_(self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

    template <completion_handler_for<void(error_code, int)> Handler>
    void operator()(Handler&& handler) const {
      using handler_type = std::decay_t<Handler>;
      using op_type =
          detail::handler_operation<detail::signal_wait_operation, handler_type, Executor>;
      handler_type target(std::forward<Handler>(handler));
      auto op = op_type::create(target, self_->executor_, self_->state_);
      op->template connect<detail::signal_canceller>(op.get());
      self_->state_.start(op.release());
    }

   private:
    basic_signal_set* self_;
  };

  Executor executor_;
  detail::signal_set_state state_;
};

}  // namespace WEFT_NAMESPACE
