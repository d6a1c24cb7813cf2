// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// What an operation gives to its handler. Every kind of operation has one, so these are plain
/// aggregates, which cost the compiler little.
template <class... Values>
struct operation_results;

template <class First>
struct operation_results<First> {
  First first;

  template <class Handler>
  void give_to(Handler&& handler) && {
    std::forward<Handler>(handler)(std::move(first));
  }
};

template <class First, class Second>
struct operation_results<First, Second> {
  First first;
  Second second;

  template <class Handler>
  void give_to(Handler&& handler) && {
    std::forward<Handler>(handler)(std::move(first), std::move(second));
  }
};

template <class First, class Second, class Third>
struct operation_results<First, Second, Third> {
  First first;
  Second second;
  Third third;

  template <class Handler>
  void give_to(Handler&& handler) && {
    std::forward<Handler>(handler)(std::move(first), std::move(second), std::move(third));
  }
};

}  // namespace WEFT_NAMESPACE::detail
