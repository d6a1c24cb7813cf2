// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/added_values.hpp>

namespace WEFT_NAMESPACE {

/// Calls the handler with additional values after the results of the operation:
///     timer.async_wait(append(handler, 42));  // handler(error_code, int)
/// The values are copied into the token, and moved to the handler. A token of any kind may stand in
/// place of the handler. Made by `append(token, values...)`.
template <class CompletionToken, class... Values>
class append_t {
 public:
  template <class T, class... V>
  constexpr explicit append_t(T&& completion_token, V&&... values)
      : token_(std::forward<T>(completion_token)), values_(std::forward<V>(values)...) {}

  CompletionToken token_;
  std::tuple<Values...> values_;
};

template <class CompletionToken, class... Values>
[[nodiscard]] constexpr append_t<std::decay_t<CompletionToken>, std::decay_t<Values>...> append(
    CompletionToken&& completion_token, Values&&... values) {
  return append_t<std::decay_t<CompletionToken>, std::decay_t<Values>...>(
      std::forward<CompletionToken>(completion_token), std::forward<Values>(values)...);
}

template <class CompletionToken, class... Values, class... Signatures>
class async_result<append_t<CompletionToken, Values...>, Signatures...>
    : public detail::adapting_result<detail::adding_adapter<detail::added_place::after, Values...>,
                                     Signatures...> {};

}  // namespace WEFT_NAMESPACE
