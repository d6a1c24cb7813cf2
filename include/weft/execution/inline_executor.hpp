// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/execution/properties.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Calls a copy of `f`; an exception from it ends the program, or goes on, as the
/// inline_exception_handling property says.
template <class InlineExceptionHandling, class Function>
void invoke_inline(Function&& f) {
  std::decay_t<Function> function(std::forward<Function>(f));
  if constexpr (std::is_same_v<InlineExceptionHandling,
                               execution::inline_exception_handling_t::terminate_t>)
    [&]() noexcept { std::move(function)(); }();
  else
    std::move(function)();
}

}  // namespace detail

/// An executor that calls each function at once, inside `execute`. It belongs to no context. All
/// objects of a type are equal, and may be used from any thread.
///
///     auto strict = weft::require(weft::inline_executor(),
///                                 weft::execution::inline_exception_handling.terminate);
template <class InlineExceptionHandling>
class basic_inline_executor {
  using handling = execution::inline_exception_handling_t;

 public:
  constexpr basic_inline_executor() noexcept = default;

  constexpr basic_inline_executor<handling::propagate_t> require(
      handling::propagate_t) const noexcept {
    return {};
  }
  constexpr basic_inline_executor<handling::terminate_t> require(
      handling::terminate_t) const noexcept {
    return {};
  }

  static constexpr execution::mapping_t query(execution::mapping_t) noexcept {
    return execution::mapping.thread;
  }
  static constexpr handling query(handling) noexcept { return InlineExceptionHandling(); }
  static constexpr execution::blocking_t query(execution::blocking_t) noexcept {
    return execution::blocking.always;
  }

  /// Calls a copy of `f`.
  template <class Function>
  void execute(Function&& f) const {
    detail::invoke_inline<InlineExceptionHandling>(std::forward<Function>(f));
  }

  friend constexpr bool operator==(basic_inline_executor, basic_inline_executor) noexcept {
    return true;
  }
};

using inline_executor = basic_inline_executor<execution::inline_exception_handling_t::propagate_t>;

}  // namespace WEFT_NAMESPACE
