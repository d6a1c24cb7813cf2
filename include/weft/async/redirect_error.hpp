// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/token_adapter.hpp>
#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE {

/// Puts the operation's error_code into a variable instead of passing it on, so that a token which
/// would throw it does not:
///     error_code ec;
///     auto n = co_await socket.async_read_some(buffer, redirect_error(use_awaitable, ec));
/// The variable must live until the operation has completed; it is written just before the handler
/// is called, success too. Operations without an error are left as they are.
/// Made by `redirect_error(token, ec)`, or, for the default token, `redirect_error(ec)`.
template <class CompletionToken>
class redirect_error_t {
 public:
  template <class T>
  redirect_error_t(T&& completion_token, error_code& ec)
      : token_(std::forward<T>(completion_token)), ec_(ec) {}

  CompletionToken token_;
  error_code& ec_;
};

class partial_redirect_error {
 public:
  using is_partial_token = void;

  explicit partial_redirect_error(error_code& ec) : ec_(ec) {}

  template <class CompletionToken>
  [[nodiscard]] constexpr redirect_error_t<std::decay_t<CompletionToken>> operator()(
      CompletionToken&& completion_token) const {
    return redirect_error_t<std::decay_t<CompletionToken>>(
        std::forward<CompletionToken>(completion_token), ec_);
  }

 private:
  error_code& ec_;
};

[[nodiscard]] inline partial_redirect_error redirect_error(error_code& ec) {
  return partial_redirect_error(ec);
}

template <class CompletionToken>
[[nodiscard]] redirect_error_t<std::decay_t<CompletionToken>> redirect_error(
    CompletionToken&& completion_token, error_code& ec) {
  return redirect_error_t<std::decay_t<CompletionToken>>(
      std::forward<CompletionToken>(completion_token), ec);
}

namespace detail {

template <class Handler>
class redirect_error_handler : public handler_wrapper<Handler> {
 public:
  template <class H>
  redirect_error_handler(H&& handler, error_code& ec)
      : handler_wrapper<Handler>(std::in_place, std::forward<H>(handler)), ec_(ec) {}

  void operator()() { std::move(this->handler_)(); }

  template <class First, class... Args>
  void operator()(First&& first, Args&&... args) {
    if constexpr (std::is_same_v<std::decay_t<First>, error_code>) {
      ec_ = first;
      std::move(this->handler_)(std::forward<Args>(args)...);
    } else {
      std::move(this->handler_)(std::forward<First>(first), std::forward<Args>(args)...);
    }
  }

 private:
  error_code& ec_;
};

struct redirect_error_adapter {
  template <class... Args>
  struct parameters {
    using type = signature_parameters<Args...>;
  };
  template <class First, class... Args>
    requires std::is_same_v<std::decay_t<First>, error_code>
  struct parameters<First, Args...> {
    using type = signature_parameters<Args...>;
  };

  template <class Token>
  static redirect_error_adapter of(Token&& token) {
    return {token.ec_};
  }

  template <class Handler>
  auto operator()(Handler&& handler) && {
    return redirect_error_handler<std::decay_t<Handler>>(std::forward<Handler>(handler), ec);
  }

  error_code& ec;
};

}  // namespace detail

template <class CompletionToken, class... Signatures>
class async_result<redirect_error_t<CompletionToken>, Signatures...>
    : public detail::adapting_result<detail::redirect_error_adapter, Signatures...> {};

}  // namespace WEFT_NAMESPACE
