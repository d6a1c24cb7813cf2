// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <exception>
#include <source_location>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

class join_operation;

/// What a fiber and its handle share: the signal that cancels it, how it has ended, and who waits
/// for that.
class WEFT_API fiber_core final : public wait_core<sharing::concurrent> {
 public:
  explicit fiber_core(execution_context& context) : wait_core(context) {}

  cancellation_signal signal;

  /// The fiber has ended, with an exception or without.
  void ended(std::exception_ptr error) noexcept;
  bool has_ended() noexcept;

  /// Whether `op` has completed; if it is to be `queued` otherwise, it is.
  bool join(join_operation& op, bool queued) noexcept;
  void withdraw(core_operation<fiber_core>& op, completed_waits& out) noexcept;

 private:
  void take_pending(completed_waits& out) noexcept override;

  wait_list<join_operation> joining_;
  bool has_ended_ = false;
  std::exception_ptr error_;
};

template <class Executor>
class initiate_join {
 public:
  using executor_type = Executor;
  using operation_type = join_operation;

  initiate_join(fiber_core& core, const Executor& executor) : core_(&core), executor_(executor) {}

  executor_type get_executor() const noexcept { return executor_; }
  scheduler& owner() const noexcept { return core_->owner(); }
  fiber_core& core() const noexcept { return *core_; }

  template <class Handler>
  void operator()(Handler&& handler) && {
    initiate_directly(std::move(*this), std::forward<Handler>(handler));
  }

 private:
  fiber_core* core_;
  [[no_unique_address]] Executor executor_;
};

/// Waits for the end of a fiber.
class WEFT_API join_operation : public core_operation<fiber_core> {
 public:
  template <class Executor>
  join_operation(function f, scheduler& owner, initiate_join<Executor>&& initiation) noexcept
      : core_operation(f, owner, initiation.core()) {}

  bool try_complete() noexcept { return core().join(*this, false); }
  bool start() noexcept { return !core().join(*this, true); }

  operation_results<std::exception_ptr> take_results();

 private:
  friend class fiber_core;

  std::exception_ptr error_;
};

/// The handler of a fiber that has a handle. One that is destroyed un-called tells of an abort.
class WEFT_API fiber_end {
 public:
  using cancellation_slot_type = cancellation_slot;

  explicit fiber_end(fiber_core& core) noexcept : core_(&core) { core.retain(); }
  fiber_end(fiber_end&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  fiber_end& operator=(fiber_end&&) = delete;
  ~fiber_end() {
    if (core_)
      drop();
  }

  cancellation_slot_type get_cancellation_slot() const noexcept { return core_->signal.slot(); }
  void operator()(std::exception_ptr error) noexcept {
    core_->ended(std::move(error));
    tell_no_more();
  }

 private:
  void tell_no_more() noexcept { std::exchange(core_, nullptr)->release(); }
  void drop() noexcept;

  fiber_core* core_;
};

}  // namespace detail

/// A handle of a fiber, by which others wait for its end, in any style, and cancel it:
///
///     fiber worker(context, [&](yield_context yield) { work(yield); });
///     ...
///     worker.async_join(yield);             // another fiber; rethrows what has left the function
///     co_await worker.async_join();         // a coroutine
///
/// The fiber is one that spawn starts. Destroying the handle lets it go on by itself. A handle can
/// be moved; one that has been moved from has no fiber, and must only be assigned to or destroyed.
///
/// Thread safety: distinct objects are safe; of a shared one `async_join`, `cancel` and `has_ended`
/// may be called from any thread.
template <class Executor = any_io_executor>
class basic_fiber {
 public:
  using executor_type = Executor;

  /// The same type of handle with another executor.
  template <class OtherExecutor>
  struct rebind_executor {
    using other = basic_fiber<OtherExecutor>;
  };

  /// Starts `f(yield)` on `ex`. Throws what spawn throws.
  template <detail::fiber_function<Executor> F>
  explicit basic_fiber(const Executor& ex, F&& f, stack_size size = default_stack_size,
                       std::source_location where = std::source_location::current())
      : core_(std::in_place, detail::executor_context(ex)), executor_(ex) {
    spawn(ex, size, std::forward<F>(f), detail::fiber_end(*core_), where);
  }
  template <detail::executor_source<Executor> Context, detail::fiber_function<Executor> F>
  explicit basic_fiber(Context& context, F&& f, stack_size size = default_stack_size,
                       std::source_location where = std::source_location::current())
      : basic_fiber(Executor(context.get_executor()), std::forward<F>(f), size, where) {}

  basic_fiber(basic_fiber&&) noexcept = default;
  /// Lets the fiber that this handle had go on by itself.
  basic_fiber& operator=(basic_fiber&&) noexcept = default;

  executor_type get_executor() const noexcept { return executor_; }

  /// Whether the fiber has ended.
  bool has_ended() const noexcept { return core_->has_ended(); }

  /// Requests the cancellation of the fiber, as the slot of spawn's token does.
  void cancel(cancellation_type type = cancellation_type::terminal) { core_->signal.emit(type); }

  /// Waits until the fiber has ended. Several may wait; the fiber itself would wait in vain.
  ///
  /// Completion signature: `void(std::exception_ptr)`: what has left the function, or null;
  /// operation_aborted, as a system_error, if the wait was cancelled, the handle is gone, or the
  /// fiber's context has ended before it.
  /// Cancellation: of any type; the fiber is left alone.
  /// Thread safety: any thread. O(1).
  template <class Token = default_completion_token_t<Executor>>
  auto async_join(Token&& token = default_completion_token_t<Executor>()) {
    return async_initiate<Token, void(std::exception_ptr)>(
        detail::initiate_join<Executor>(*core_, executor_), token);
  }

 private:
  detail::core_handle<detail::fiber_core> core_;
  Executor executor_;
};

using fiber = basic_fiber<>;

}  // namespace WEFT_NAMESPACE
