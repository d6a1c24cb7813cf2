// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_type.hpp>
#include <weft/io/timeout.hpp>

namespace WEFT_NAMESPACE {

/// A token that cancels the operation if it has not completed at that time:
///
///     socket.async_read_some(buffer, cancel_at(deadline, token));
///
/// Made by `cancel_at`. See there.
template <class CompletionToken, class Clock, class WaitTraits = wait_traits<Clock>>
class cancel_at_t {
 public:
  template <class T>
  cancel_at_t(T&& completion_token, const typename Clock::time_point& expiry,
              cancellation_type cancel_type = cancellation_type::terminal)
      : token_(std::forward<T>(completion_token)), expiry_(expiry), cancel_type_(cancel_type) {}

  CompletionToken token_;
  typename Clock::time_point expiry_;
  cancellation_type cancel_type_;
};

/// The same, with a timer of the caller's.
template <class CompletionToken, class Clock, class WaitTraits = wait_traits<Clock>,
          class Executor = any_io_executor>
class cancel_at_timer {
 public:
  template <class T>
  cancel_at_timer(T&& completion_token, basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
                  const typename Clock::time_point& expiry,
                  cancellation_type cancel_type = cancellation_type::terminal)
      : token_(std::forward<T>(completion_token)),
        timer_(&timer),
        expiry_(expiry),
        cancel_type_(cancel_type) {}

  CompletionToken token_;
  basic_waitable_timer<Clock, WaitTraits, Executor>* timer_;
  typename Clock::time_point expiry_;
  cancellation_type cancel_type_;
};

/// `cancel_at` without a token: adapts the token it is called with, or, used as a token itself,
/// the operation's default token.
template <class Clock, class WaitTraits = wait_traits<Clock>>
class partial_cancel_at {
 public:
  using is_partial_token = void;

  explicit partial_cancel_at(const typename Clock::time_point& expiry,
                             cancellation_type cancel_type = cancellation_type::terminal)
      : expiry_(expiry), cancel_type_(cancel_type) {}

  template <class CompletionToken>
  [[nodiscard]] cancel_at_t<std::decay_t<CompletionToken>, Clock, WaitTraits> operator()(
      CompletionToken&& completion_token) const {
    return {std::forward<CompletionToken>(completion_token), expiry_, cancel_type_};
  }

 private:
  typename Clock::time_point expiry_;
  cancellation_type cancel_type_;
};

template <class Clock, class WaitTraits = wait_traits<Clock>, class Executor = any_io_executor>
class partial_cancel_at_timer {
 public:
  using is_partial_token = void;

  explicit partial_cancel_at_timer(basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
                                   const typename Clock::time_point& expiry,
                                   cancellation_type cancel_type = cancellation_type::terminal)
      : timer_(&timer), expiry_(expiry), cancel_type_(cancel_type) {}

  template <class CompletionToken>
  [[nodiscard]] cancel_at_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>
  operator()(CompletionToken&& completion_token) const {
    return {std::forward<CompletionToken>(completion_token), *timer_, expiry_, cancel_type_};
  }

 private:
  basic_waitable_timer<Clock, WaitTraits, Executor>* timer_;
  typename Clock::time_point expiry_;
  cancellation_type cancel_type_;
};

/// Adapts a completion token so that its operation is cancelled, with a request of type
/// `cancel_type`, if it has not completed at the time `expiry`. In all else it is as cancel_after.
template <class Clock, class Duration>
[[nodiscard]] partial_cancel_at<Clock> cancel_at(
    const std::chrono::time_point<Clock, Duration>& expiry,
    cancellation_type cancel_type = cancellation_type::terminal) {
  return partial_cancel_at<Clock>(detail::to_time_point<Clock>(expiry), cancel_type);
}

template <class Clock, class WaitTraits, class Executor, class Duration>
[[nodiscard]] partial_cancel_at_timer<Clock, WaitTraits, Executor> cancel_at(
    basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
    const std::chrono::time_point<Clock, Duration>& expiry,
    cancellation_type cancel_type = cancellation_type::terminal) {
  return partial_cancel_at_timer<Clock, WaitTraits, Executor>(
      timer, detail::to_time_point<Clock>(expiry), cancel_type);
}

template <class Clock, class Duration, class CompletionToken>
  requires(!std::same_as<std::decay_t<CompletionToken>, cancellation_type>)
[[nodiscard]] cancel_at_t<std::decay_t<CompletionToken>, Clock> cancel_at(
    const std::chrono::time_point<Clock, Duration>& expiry, CompletionToken&& completion_token) {
  return cancel_at_t<std::decay_t<CompletionToken>, Clock>(
      std::forward<CompletionToken>(completion_token), detail::to_time_point<Clock>(expiry));
}

template <class Clock, class Duration, class CompletionToken>
[[nodiscard]] cancel_at_t<std::decay_t<CompletionToken>, Clock> cancel_at(
    const std::chrono::time_point<Clock, Duration>& expiry, cancellation_type cancel_type,
    CompletionToken&& completion_token) {
  return cancel_at_t<std::decay_t<CompletionToken>, Clock>(
      std::forward<CompletionToken>(completion_token), detail::to_time_point<Clock>(expiry),
      cancel_type);
}

template <class Clock, class WaitTraits, class Executor, class Duration, class CompletionToken>
  requires(!std::same_as<std::decay_t<CompletionToken>, cancellation_type>)
[[nodiscard]] cancel_at_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor> cancel_at(
    basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
    const std::chrono::time_point<Clock, Duration>& expiry, CompletionToken&& completion_token) {
  return cancel_at_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>(
      std::forward<CompletionToken>(completion_token), timer, detail::to_time_point<Clock>(expiry));
}

template <class Clock, class WaitTraits, class Executor, class Duration, class CompletionToken>
[[nodiscard]] cancel_at_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor> cancel_at(
    basic_waitable_timer<Clock, WaitTraits, Executor>& timer,
    const std::chrono::time_point<Clock, Duration>& expiry, cancellation_type cancel_type,
    CompletionToken&& completion_token) {
  return cancel_at_timer<std::decay_t<CompletionToken>, Clock, WaitTraits, Executor>(
      std::forward<CompletionToken>(completion_token), timer, detail::to_time_point<Clock>(expiry),
      cancel_type);
}

template <class CompletionToken, class Clock, class WaitTraits, class... Signatures>
class async_result<cancel_at_t<CompletionToken, Clock, WaitTraits>, Signatures...>
    : public detail::timed_result<
          detail::own_deadline<detail::absolute_deadline<Clock>, Clock, WaitTraits>,
          Signatures...> {};

template <class CompletionToken, class Clock, class WaitTraits, class Executor, class... Signatures>
class async_result<cancel_at_timer<CompletionToken, Clock, WaitTraits, Executor>, Signatures...>
    : public detail::timed_result<
          detail::timer_deadline<detail::absolute_deadline<Clock>,
                                 basic_waitable_timer<Clock, WaitTraits, Executor>>,
          Signatures...> {};

}  // namespace WEFT_NAMESPACE
