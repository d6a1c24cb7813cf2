// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/context/handler_operation.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/timer_core.hpp>
#include <weft/io/wait_traits.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

class timer_access {
 public:
  template <class Timer>
  static timer_state& state(Timer& timer) noexcept {
    return timer.state_;
  }
};

}  // namespace detail

/// Waits until a time point of `Clock`, or for a while: blocking, or asynchronously.
///
///     steady_timer timer(context, std::chrono::seconds(5));
///     timer.async_wait([](error_code ec) {
///       if (!ec) { /* five seconds have passed */ }
///     });
///
/// Any number of waits may be pending on one timer; those with the same expiry complete in the
/// order in which they were started. Setting the expiry cancels them.
///
/// A cancel that has returned has won: once `cancel`, `expires_at` or `expires_after` has returned,
/// no wait reports success whose handler has not begun; also if its expiry had already been queued,
/// and whatever executor (a strand, one of the user's own) the handler is yet to go through. It
/// reports error::operation_aborted, and the returned number includes it.
///
/// `Clock` is any clock in the sense of the standard; `WaitTraits` says how long to wait before
/// looking at it again (see wait_traits). A clock that is not steady may be set while the timer
/// waits: that is noticed within a minute, at once when something else wakes the context.
///
/// Cost: a wait is kept in the operation itself; arming it allocates nothing else and makes no
/// system call, unless another thread sleeps past its expiry. Arming and cancelling are O(1), and
/// so is completing, amortised; for waits whose expiry has passed before they are started,
/// completing and cancelling are O(log n) amortised, n their number. However many waits expire
/// together, what is queued meanwhile, and input and output, get their turn between them. A pending
/// wait takes 104 bytes, and what its handler and executor do (152 in all for a handler of 8 bytes
/// and any_io_executor), a steady_timer 88; the waits of each clock share 17 KiB. Times are kept in
/// nanoseconds, and saturate.
///
/// Thread safety: `cancel` and `cancel_one` may be called from any thread while the timer lives. Of
/// the others one at a time. Distinct timers are independent.
template <class Clock, class WaitTraits = wait_traits<Clock>, class Executor = any_io_executor>
class basic_waitable_timer {
  using clock_access = detail::timer_clock_of<Clock, WaitTraits>;

 public:
  using executor_type = Executor;
  using clock_type = Clock;
  using duration = typename Clock::duration;
  using time_point = typename Clock::time_point;
  using traits_type = WaitTraits;

  /// The same timer type with another executor.
  template <class Executor1>
  struct rebind_executor {
    using other = basic_waitable_timer<Clock, WaitTraits, Executor1>;
  };

  /// A timer that expired at the clock's epoch. Its handlers run by default in `ex`. Throws
  /// std::bad_alloc, or what starting the I/O driver of the context throws.
  explicit basic_waitable_timer(const executor_type& ex)
      : executor_(ex),
        state_(detail::use_timer_service(detail::executor_context(executor_)),
               clock_access::value) {}
  /// A timer that expires at `expiry_time`.
  basic_waitable_timer(const executor_type& ex, const time_point& expiry_time)
      : basic_waitable_timer(ex) {
    expires_at(expiry_time);
  }
  /// A timer that expires when `expiry_time` has passed from now.
  basic_waitable_timer(const executor_type& ex, const duration& expiry_time)
      : basic_waitable_timer(ex) {
    expires_after(expiry_time);
  }

  /// The same, with the executor of `context`.
  template <detail::execution_context_type ExecutionContext>
  explicit basic_waitable_timer(ExecutionContext& context)
      : basic_waitable_timer(executor_type(context.get_executor())) {}
  template <detail::execution_context_type ExecutionContext>
  basic_waitable_timer(ExecutionContext& context, const time_point& expiry_time)
      : basic_waitable_timer(executor_type(context.get_executor()), expiry_time) {}
  template <detail::execution_context_type ExecutionContext>
  basic_waitable_timer(ExecutionContext& context, const duration& expiry_time)
      : basic_waitable_timer(executor_type(context.get_executor()), expiry_time) {}

  /// Takes over the waits and the expiry of `other`, which is left as if newly made.
  basic_waitable_timer(basic_waitable_timer&& other) noexcept
      : executor_(other.executor_),
        state_(std::move(other.state_)),
        expiry_(std::exchange(other.expiry_, time_point())) {}
  template <class Executor1>
    requires std::convertible_to<Executor1, Executor>
  basic_waitable_timer(basic_waitable_timer<Clock, WaitTraits, Executor1>&& other)
      : executor_(other.executor_),
        state_(std::move(other.state_)),
        expiry_(std::exchange(other.expiry_, time_point())) {}

  /// The same; the waits of this timer are cancelled.
  basic_waitable_timer& operator=(basic_waitable_timer&& other) noexcept {
    if (this != &other)
      take(other);
    return *this;
  }
  template <class Executor1>
    requires std::convertible_to<Executor1, Executor>
  basic_waitable_timer& operator=(basic_waitable_timer<Clock, WaitTraits, Executor1>&& other) {
    take(other);
    return *this;
  }

  /// Cancels the waits.
  ~basic_waitable_timer() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Cancels all waits whose handler has not begun: they report error::operation_aborted. Returns
  /// their number. The expiry stays as it is. Any thread.
  std::size_t cancel() { return state_.cancel(); }

  /// Cancels the one of them that was started first. Returns 0 or 1. Any thread.
  std::size_t cancel_one() { return state_.cancel_one(); }

  /// When the timer expires, or has expired.
  time_point expiry() const { return expiry_; }

  /// Sets the expiry, for waits that are started from now on. Those under way are cancelled;
  /// returns their number.
  std::size_t expires_at(const time_point& expiry_time) {
    expiry_ = expiry_time;
    return state_.expires_at(clock_access::expiry(expiry_time));
  }

  /// The same, with `Clock::now() + expiry_time`; the clock's last or first time point where that
  /// would overflow.
  std::size_t expires_after(const duration& expiry_time) {
    return expires_at(detail::saturated_add(detail::clock_now<Clock>(), expiry_time));
  }

  /// Blocks the calling thread until the timer has expired. Not interrupted by signals, nor by
  /// `cancel`. Never fails.
  void wait() { state_.wait(); }
  void wait(error_code& ec) {
    ec = error_code();
    state_.wait();
  }

  /// Waits until the timer has expired. The handler is never called from inside this function,
  /// except by way of an immediate executor bound to it, if the timer has expired already.
  ///
  /// Completion: `void (error_code)`: success, or error::operation_aborted if it was cancelled.
  /// Cancellation: by `cancel` and its like; by its slot (terminal, partial, total). Nothing is
  /// lost. Throws what the allocation, or moving the handler, throws.
  template <
      completion_token_for<void(error_code)> WaitToken = default_completion_token_t<executor_type>>
  auto async_wait(WaitToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WaitToken, void(error_code)>(initiate_async_wait(this), token);
  }

  // ---- names of earlier versions of the interface

  std::size_t cancel(error_code& ec) {
    ec = error_code();
    return cancel();
  }
  std::size_t cancel_one(error_code& ec) {
    ec = error_code();
    return cancel_one();
  }
  time_point expires_at() const { return expiry_; }
  std::size_t expires_at(const time_point& expiry_time, error_code& ec) {
    ec = error_code();
    return expires_at(expiry_time);
  }
  duration expires_from_now() const { return WaitTraits::to_wait_duration(expiry_); }
  std::size_t expires_from_now(const duration& expiry_time) { return expires_after(expiry_time); }
  std::size_t expires_from_now(const duration& expiry_time, error_code& ec) {
    ec = error_code();
    return expires_after(expiry_time);
  }

 private:
  template <class, class, class>
  friend class basic_waitable_timer;
  friend class detail::timer_access;

  class initiate_async_wait {
   public:
    using executor_type = Executor;

    explicit initiate_async_wait(basic_waitable_timer* self) noexcept : self_(self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

    template <completion_handler_for<void(error_code)> Handler>
    void operator()(Handler&& handler) const {
      std::decay_t<Handler> target(std::forward<Handler>(handler));
      self_->start_wait(target);
    }

   private:
    basic_waitable_timer* self_;
  };

  template <class Handler>
  void start_wait(Handler& handler) {
    using op_type = detail::handler_operation<detail::wait_operation, Handler, Executor>;
    auto op = op_type::create(handler, executor_, state_);
    op->template connect<detail::wait_canceller>(op.get());
    if constexpr (requires { typename Handler::immediate_executor_type; }) {
      if (state_.is_expired()) {
        op_type::complete_immediately(op.release(), executor_);
        return;
      }
    }
    state_.start(op.release());
  }

  template <class Timer>
  void take(Timer& other) {
    executor_ = other.executor_;
    state_ = std::move(other.state_);
    expiry_ = std::exchange(other.expiry_, time_point());
  }

  Executor executor_;
  detail::timer_state state_;
  time_point expiry_{};
};

}  // namespace WEFT_NAMESPACE
