// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_type.hpp>
#include <weft/io/timeout.hpp>

namespace WEFT_NAMESPACE {

/// A token that cancels the operation if it has not completed when the time has passed:
///
///     socket.async_read_some(buffer, cancel_after(std::chrono::seconds(5), token));
///
/// Made by `cancel_after`. See there.
template <class CompletionToken, class Clock, class WaitTraits = wait_traits<Clock>>
class cancel_after_t {
 public:
  template <class T>
  cancel_after_t(T&& completion_token, const typename Clock::duration& timeout,
                 cancellation_type cancel_type = cancellation_type::terminal)
      : token_(std::forward<T>(completion_token)), timeout_(timeout), cancel_type_(cancel_type) {}

  CompletionToken token_;
  typename Clock::duration timeout_;
  cancellation_type cancel_type_;
};

/// The same, with a timer of the caller's.
template <class CompletionToken, class Clock, class WaitTraits = wait_traits<Clock>,
          class Executor = any_io_executor>
class cancel_after_timer {
 public:
  template <class T>
  cancel_after_timer(T&& completion_token, basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
                     const typename Clock::duration& timeout,
                     cancellation_type cancel_type = cancellation_type::terminal)
      : token_(std::forward<T>(completion_token)),
        timer_(&timer),
        timeout_(timeout),
        cancel_type_(cancel_type) {}

  CompletionToken token_;
  basic_waitable_timer<Clock, WaitTraits, Executor>* timer_;
  typename Clock::duration timeout_;
  cancellation_type cancel_type_;
};

/// `cancel_after` without a token: adapts the token it is called with, or, used as a token itself,
/// the operation's default token.
template <class Clock, class WaitTraits = wait_traits<Clock>>
class partial_cancel_after {
 public:
  using is_partial_token = void;

  explicit partial_cancel_after(const typename Clock::duration& timeout,
                                cancellation_type cancel_type = cancellation_type::terminal)
      : timeout_(timeout), cancel_type_(cancel_type) {}

  template <class CompletionToken>
  [[nodiscard]] cancel_after_t<std::decay_t<CompletionToken>, Clock, WaitTraits> operator()(
      CompletionToken&& completion_token) const {
    return {std::forward<CompletionToken>(completion_token), timeout_, cancel_type_};
  }

 private:
  typename Clock::duration timeout_;
  cancellation_type cancel_type_;
};

template <class Clock, class WaitTraits = wait_traits<Clock>, class Executor = any_io_executor>
class partial_cancel_after_timer {
 public:
  using is_partial_token = void;

  explicit partial_cancel_after_timer(basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
                                      const typename Clock::duration& timeout,
                                      cancellation_type cancel_type = cancellation_type::terminal)
      : timer_(&timer), timeout_(timeout), cancel_type_(cancel_type) {}

  template <class CompletionToken>
  [[nodiscard]] cancel_after_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>
  operator()(CompletionToken&& completion_token) const {
    return {std::forward<CompletionToken>(completion_token), *timer_, timeout_, cancel_type_};
  }

 private:
  basic_waitable_timer<Clock, WaitTraits, Executor>* timer_;
  typename Clock::duration timeout_;
  cancellation_type cancel_type_;
};

/// Adapts a completion token so that its operation is cancelled, with a request of type
/// `cancel_type`, if it has not completed when `timeout` has passed since it was started. A timeout
/// that is not positive cancels at once; one that the clock cannot reach, never.
///
/// The operation completes exactly once, with its own results: when it is cancelled in time, with
/// whatever it reports then (mostly error::operation_aborted); when it completes first, with
/// success, and nothing waits any longer. What its own slot hears is passed on. What cancelling may
/// lose is for the operation to say.
///
/// No strand is needed: the request is made on a thread of the context of the handler's associated
/// executor, as if by `cancellation_signal::emit`. The handler runs as it would without a timeout.
/// Cost: one recycled block, and arming and retracting a wait.
///
/// With `timer`, its expiry is set instead (and its pending waits are cancelled): the timer must
/// live until the operation has been started; cancelling or re-arming it ends the timeout and
/// leaves the operation going.
template <class Rep, class Period>
[[nodiscard]] partial_cancel_after<std::chrono::steady_clock> cancel_after(
    const std::chrono::duration<Rep, Period>& timeout,
    cancellation_type cancel_type = cancellation_type::terminal) {
  return partial_cancel_after<std::chrono::steady_clock>(
      detail::to_duration<std::chrono::steady_clock>(timeout), cancel_type);
}

template <class Clock, class WaitTraits, class Executor, class Rep, class Period>
[[nodiscard]] partial_cancel_after_timer<Clock, WaitTraits, Executor> cancel_after(
    basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
    const std::chrono::duration<Rep, Period>& timeout,
    cancellation_type cancel_type = cancellation_type::terminal) {
  return partial_cancel_after_timer<Clock, WaitTraits, Executor>(
      timer, detail::to_duration<Clock>(timeout), cancel_type);
}

template <class Rep, class Period, class CompletionToken>
  requires(!std::same_as<std::decay_t<CompletionToken>, cancellation_type>)
[[nodiscard]] cancel_after_t<std::decay_t<CompletionToken>, std::chrono::steady_clock> cancel_after(
    const std::chrono::duration<Rep, Period>& timeout, CompletionToken&& completion_token) {
  return cancel_after_t<std::decay_t<CompletionToken>, std::chrono::steady_clock>(
      std::forward<CompletionToken>(completion_token),
      detail::to_duration<std::chrono::steady_clock>(timeout));
}

template <class Rep, class Period, class CompletionToken>
[[nodiscard]] cancel_after_t<std::decay_t<CompletionToken>, std::chrono::steady_clock> cancel_after(
    const std::chrono::duration<Rep, Period>& timeout, cancellation_type cancel_type,
    CompletionToken&& completion_token) {
  return cancel_after_t<std::decay_t<CompletionToken>, std::chrono::steady_clock>(
      std::forward<CompletionToken>(completion_token),
      detail::to_duration<std::chrono::steady_clock>(timeout), cancel_type);
}

template <class Clock, class WaitTraits, class Executor, class Rep, class Period,
          class CompletionToken>
  requires(!std::same_as<std::decay_t<CompletionToken>, cancellation_type>)
[[nodiscard]] cancel_after_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>
cancel_after(basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
             const std::chrono::duration<Rep, Period>& timeout,
             CompletionToken&& completion_token) {
  return cancel_after_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>(
      std::forward<CompletionToken>(completion_token), timer, detail::to_duration<Clock>(timeout));
}

template <class Clock, class WaitTraits, class Executor, class Rep, class Period,
          class CompletionToken>
[[nodiscard]] cancel_after_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>
cancel_after(basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
             const std::chrono::duration<Rep, Period>& timeout, cancellation_type cancel_type,
             CompletionToken&& completion_token) {
  return cancel_after_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>(
      std::forward<CompletionToken>(completion_token), timer, detail::to_duration<Clock>(timeout),
      cancel_type);
}

template <class CompletionToken, class Clock, class WaitTraits, class... Signatures>
class async_result<cancel_after_t<CompletionToken, Clock, WaitTraits>, Signatures...>
    : public detail::timed_result<
          detail::own_deadline<detail::relative_deadline<Clock>, Clock, WaitTraits>,
          Signatures...> {};

template <class CompletionToken, class Clock, class WaitTraits, class Executor, class... Signatures>
class async_result<cancel_after_timer<CompletionToken, Clock, WaitTraits, Executor>, Signatures...>
    : public detail::timed_result<
          detail::timer_deadline<detail::relative_deadline<Clock>,
                                 basic_waitable_timer<Clock, WaitTraits, Executor>>,
          Signatures...> {};

}  // namespace WEFT_NAMESPACE
