// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// An executor that names `Token` as the default completion token of the I/O objects that use it,
/// and is `InnerExecutor` in all else.
template <class Token, class InnerExecutor>
struct executor_with_default : InnerExecutor {
  using default_completion_token_type = Token;

  executor_with_default(const InnerExecutor& ex) noexcept : InnerExecutor(ex) {}

  template <class OtherExecutor>
    requires(!std::same_as<OtherExecutor, executor_with_default> &&
             !std::same_as<OtherExecutor, InnerExecutor> &&
             std::is_convertible_v<OtherExecutor, InnerExecutor>)
  executor_with_default(const OtherExecutor& ex) noexcept : InnerExecutor(ex) {}
};

/// The I/O object type `T` with `Token` as its default completion token.
template <class Token, class T>
using as_default_on_t = typename T::template rebind_executor<
    executor_with_default<Token, typename T::executor_type>>::other;

/// The members of a token that may be the default of executors and of I/O objects.
template <class Token>
class default_token {
 public:
  /// An executor that makes this token the default.
  template <class InnerExecutor>
  using executor_with_default = detail::executor_with_default<Token, InnerExecutor>;

  /// The I/O object type `T` with this token as its default.
  template <class T>
  using as_default_on_t = detail::as_default_on_t<Token, T>;

  /// The I/O object, moved, with this token as its default.
  template <class T>
  static as_default_on_t<std::decay_t<T>> as_default_on(T&& object) {
    return as_default_on_t<std::decay_t<T>>(std::forward<T>(object));
  }
};

}  // namespace WEFT_NAMESPACE::detail
