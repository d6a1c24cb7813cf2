// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/async_initiate.hpp>
#include <weft/async/executor_with_default.hpp>

namespace WEFT_NAMESPACE {

/// The token for an operation whose results, errors too, nobody waits for:
///     socket.async_send(buffer, detached);
class detached_t : public detail::default_token<detached_t> {
 public:
  constexpr detached_t() = default;
};

inline constexpr detached_t detached;

namespace detail {

struct detached_handler {
  template <class... Args>
  void operator()(Args&&...) const noexcept {}
};

}  // namespace detail

template <class... Signatures>
class async_result<detached_t, Signatures...> {
 public:
  template <class Initiation, class Token, class... Args>
  static void initiate(Initiation&& initiation, Token&&, Args&&... args) {
    std::forward<Initiation>(initiation)(detail::detached_handler(), std::forward<Args>(args)...);
  }
};

}  // namespace WEFT_NAMESPACE
