// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/token_adapter.hpp>

namespace WEFT_NAMESPACE {

/// Calls the handler with additional values before the results of the operation:
///     timer.async_wait(prepend(handler, 42));  // handler(int, error_code)
/// The values are copied into the token, and moved to the handler. A token of any kind may stand in
/// place of the handler. Made by `prepend(token, values...)`.
template <class CompletionToken, class... Values>
class prepend_t {
 public:
  template <class T, class... V>
  constexpr explicit prepend_t(T&& completion_token, V&&... values)
      : token_(std::forward<T>(completion_token)), values_(std::forward<V>(values)...) {}

  CompletionToken token_;
  std::tuple<Values...> values_;
};

template <class CompletionToken, class... Values>
[[nodiscard]] constexpr prepend_t<std::decay_t<CompletionToken>, std::decay_t<Values>...> prepend(
    CompletionToken&& completion_token, Values&&... values) {
  return prepend_t<std::decay_t<CompletionToken>, std::decay_t<Values>...>(
      std::forward<CompletionToken>(completion_token), std::forward<Values>(values)...);
}

namespace detail {

template <class Handler, class... Values>
class prepend_handler : public handler_wrapper<Handler> {
 public:
  template <class H>
  prepend_handler(H&& handler, std::tuple<Values...>&& values)
      : handler_wrapper<Handler>(std::in_place, std::forward<H>(handler)),
        values_(std::move(values)) {}

  template <class... Args>
  void operator()(Args&&... args) {
    std::apply(
        [&](Values&&... values) {
          std::move(this->handler_)(std::move(values)..., std::forward<Args>(args)...);
        },
        std::move(values_));
  }

 private:
  std::tuple<Values...> values_;
};

template <class... Values>
struct prepend_adapter {
  template <class... Args>
  struct parameters {
    using type = signature_parameters<Values..., Args...>;
  };

  template <class Handler>
  auto operator()(Handler&& handler) && {
    return prepend_handler<std::decay_t<Handler>, Values...>(std::forward<Handler>(handler),
                                                             std::move(values));
  }

  std::tuple<Values...> values;
};

}  // namespace detail

template <class CompletionToken, class... Values, class... Signatures>
class async_result<prepend_t<CompletionToken, Values...>, Signatures...> {
  using adapter = detail::prepend_adapter<Values...>;

 public:
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args) {
    return detail::initiate_adapted(
        detail::signature_list<
            detail::map_signature_t<adapter::template parameters, Signatures>...>(),
        std::forward<Initiation>(initiation), adapter{std::forward<Token>(token).values_},
        std::forward<Token>(token).token_, std::forward<Args>(args)...);
  }
};

}  // namespace WEFT_NAMESPACE
