// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/executor_with_default.hpp>
#include <weft/async/token_adapter.hpp>

namespace WEFT_NAMESPACE {

/// Calls the handler with one std::tuple of all results, so that errors are values too:
///     auto [ec, n] = co_await socket.async_read_some(buffer, as_tuple(use_awaitable));
/// Made by `as_tuple(token)`. `as_tuple` alone, as a token, adapts the operation's default token.
template <class CompletionToken>
class as_tuple_t : public detail::default_token<as_tuple_t<CompletionToken>> {
 public:
  /// Keeps the default constructor from being a conversion.
  struct default_constructor_tag {};

  constexpr explicit as_tuple_t(default_constructor_tag = default_constructor_tag(),
                                CompletionToken token = CompletionToken())
      : token_(std::move(token)) {}

  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, as_tuple_t> &&
             std::is_constructible_v<CompletionToken, T>)
  constexpr explicit as_tuple_t(T&& completion_token) : token_(std::forward<T>(completion_token)) {}

  CompletionToken token_;
};

struct partial_as_tuple {
  using is_partial_token = void;

  template <class CompletionToken>
  [[nodiscard]] constexpr as_tuple_t<std::decay_t<CompletionToken>> operator()(
      CompletionToken&& completion_token) const {
    return as_tuple_t<std::decay_t<CompletionToken>>(
        typename as_tuple_t<std::decay_t<CompletionToken>>::default_constructor_tag(),
        std::forward<CompletionToken>(completion_token));
  }
};

inline constexpr partial_as_tuple as_tuple;

namespace detail {

template <class Handler>
class as_tuple_handler : public handler_wrapper<Handler> {
 public:
  using handler_wrapper<Handler>::handler_wrapper;

  template <class... Args>
  void operator()(Args&&... args) {
    std::move(this->handler_)(std::tuple<std::decay_t<Args>...>(std::forward<Args>(args)...));
  }
};

struct as_tuple_adapter {
  template <class... Args>
  struct parameters {
    using type = signature_parameters<std::tuple<std::decay_t<Args>...>>;
  };

  template <class Token>
  static as_tuple_adapter of(Token&&) {
    return {};
  }

  template <class Handler>
  auto operator()(Handler&& handler) && {
    return as_tuple_handler<std::decay_t<Handler>>(std::in_place, std::forward<Handler>(handler));
  }
};

}  // namespace detail

template <class CompletionToken, class... Signatures>
class async_result<as_tuple_t<CompletionToken>, Signatures...>
    : public detail::adapting_result<detail::as_tuple_adapter, Signatures...> {};

}  // namespace WEFT_NAMESPACE
