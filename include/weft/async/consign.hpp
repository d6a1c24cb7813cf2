// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/token_adapter.hpp>

namespace WEFT_NAMESPACE {

/// Keeps values alive until the handler has been called:
///     auto timer = std::make_shared<steady_timer>(ctx, 1s);
///     timer->async_wait(consign(handler, timer));
/// The handler does not see them. Made by `consign(token, values...)`.
template <class CompletionToken, class... Values>
class consign_t {
 public:
  template <class T, class... V>
  constexpr explicit consign_t(T&& completion_token, V&&... values)
      : token_(std::forward<T>(completion_token)), values_(std::forward<V>(values)...) {}

  CompletionToken token_;
  std::tuple<Values...> values_;
};

template <class CompletionToken, class... Values>
[[nodiscard]] constexpr consign_t<std::decay_t<CompletionToken>, std::decay_t<Values>...> consign(
    CompletionToken&& completion_token, Values&&... values) {
  return consign_t<std::decay_t<CompletionToken>, std::decay_t<Values>...>(
      std::forward<CompletionToken>(completion_token), std::forward<Values>(values)...);
}

namespace detail {

template <class Handler, class... Values>
class consign_handler : public handler_wrapper<Handler> {
 public:
  template <class H>
  consign_handler(H&& handler, std::tuple<Values...>&& values)
      : handler_wrapper<Handler>(std::in_place, std::forward<H>(handler)),
        values_(std::move(values)) {}

  template <class... Args>
  void operator()(Args&&... args) {
    std::move(this->handler_)(std::forward<Args>(args)...);
  }

 private:
  std::tuple<Values...> values_;
};

template <class... Values>
struct consign_adapter {
  template <class... Args>
  using parameters = std::type_identity<signature_parameters<Args...>>;

  template <class Token>
  static consign_adapter of(Token&& token) {
    return {std::forward<Token>(token).values_};
  }

  template <class Handler>
  auto operator()(Handler&& handler) && {
    return consign_handler<std::decay_t<Handler>, Values...>(std::forward<Handler>(handler),
                                                             std::move(values));
  }

  std::tuple<Values...> values;
};

}  // namespace detail

template <class CompletionToken, class... Values, class... Signatures>
class async_result<consign_t<CompletionToken, Values...>, Signatures...>
    : public detail::adapting_result<detail::consign_adapter<Values...>, Signatures...> {};

}  // namespace WEFT_NAMESPACE
