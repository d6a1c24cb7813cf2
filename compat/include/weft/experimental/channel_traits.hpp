// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <deque>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/base/error_code.hpp>
#include <weft/experimental/channel_error.hpp>

namespace WEFT_NAMESPACE::experimental {
namespace detail {

/// How a receive says that no message has come: by the first of the signatures that begins with an
/// error, with values made by default behind it; if there is none, by void(error_code).
template <class... Signatures>
struct channel_failure {
  using signature = void(error_code);
  template <class F>
  static void invoke(F&& f, const error_code& ec) {
    std::forward<F>(f)(ec);
  }
};
template <class First, class... More>
struct channel_failure<First, More...> : channel_failure<More...> {};
template <class R, class... Args, class... More>
struct channel_failure<R(error_code, Args...), More...> {
  using signature = R(error_code, Args...);
  template <class F>
  static void invoke(F&& f, const error_code& ec) {
    std::forward<F>(f)(ec, std::decay_t<Args>()...);
  }
};
template <class R, class... Args, class... More>
struct channel_failure<R(std::exception_ptr, Args...), More...> {
  using signature = R(std::exception_ptr, Args...);
  template <class F>
  static void invoke(F&& f, const error_code& ec) {
    std::forward<F>(f)(WEFT_NAMESPACE::detail::exception_of(ec), std::decay_t<Args>()...);
  }
};

}  // namespace detail

/// What a channel of these signatures does where no message is: the default.
template <class... Signatures>
struct channel_traits {
  /// The traits for other signatures.
  template <class... NewSignatures>
  struct rebind {
    using other = channel_traits<NewSignatures...>;
  };

  /// Not used: a channel has a buffer of its own kind.
  template <class Element>
  struct container {
    using type = std::deque<Element>;
  };

  using receive_cancelled_signature = typename detail::channel_failure<Signatures...>::signature;
  using receive_closed_signature = receive_cancelled_signature;

  template <class F>
  static void invoke_receive_cancelled(F f) {
    detail::channel_failure<Signatures...>::invoke(std::move(f), error::channel_cancelled);
  }
  template <class F>
  static void invoke_receive_closed(F f) {
    detail::channel_failure<Signatures...>::invoke(std::move(f), error::channel_closed);
  }
};

}  // namespace WEFT_NAMESPACE::experimental
