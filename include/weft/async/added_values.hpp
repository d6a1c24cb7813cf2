// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/token_adapter.hpp>

// What append and prepend have in common.

namespace WEFT_NAMESPACE::detail {

enum class added_place : bool { before, after };

/// Calls `Handler` with values before or after the results.
template <added_place Place, class Handler, class... Values>
class adding_handler : public handler_wrapper<Handler> {
 public:
  template <class H>
  adding_handler(H&& handler, std::tuple<Values...>&& values)
      : handler_wrapper<Handler>(std::in_place, std::forward<H>(handler)),
        values_(std::move(values)) {}

  template <class... Args>
  void operator()(Args&&... args) {
    std::apply(
        [&](Values&&... values) {
          if constexpr (Place == added_place::before)
            std::move(this->handler_)(std::move(values)..., std::forward<Args>(args)...);
          else
            std::move(this->handler_)(std::forward<Args>(args)..., std::move(values)...);
        },
        std::move(values_));
  }

 private:
  std::tuple<Values...> values_;
};

template <added_place Place, class... Values>
struct adding_adapter {
  template <class... Args>
  struct parameters
      : std::conditional<Place == added_place::before, signature_parameters<Values..., Args...>,
                         signature_parameters<Args..., Values...>> {};

  template <class Token>
  static adding_adapter of(Token&& token) {
    return {std::forward<Token>(token).values_};
  }

  template <class Handler>
  auto operator()(Handler&& handler) && {
    return adding_handler<Place, std::decay_t<Handler>, Values...>(std::forward<Handler>(handler),
                                                                   std::move(values));
  }

  std::tuple<Values...> values;
};

}  // namespace WEFT_NAMESPACE::detail
