// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/added_values.hpp>

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

template <class CompletionToken, class... Values, class... Signatures>
class async_result<prepend_t<CompletionToken, Values...>, Signatures...>
    : public detail::adapting_result<detail::adding_adapter<detail::added_place::before, Values...>,
                                     Signatures...> {};

}  // namespace WEFT_NAMESPACE
