// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

template <class T>
inline constexpr bool is_completion_signature = false;
template <class R, class... Args>
inline constexpr bool is_completion_signature<R(Args...)> = true;
template <class R, class... Args>
inline constexpr bool is_completion_signature<R(Args...)&> = true;
template <class R, class... Args>
inline constexpr bool is_completion_signature<R(Args...) &&> = true;
template <class R, class... Args>
inline constexpr bool is_completion_signature<R(Args...) noexcept> = true;
template <class R, class... Args>
inline constexpr bool is_completion_signature<R(Args...) & noexcept> = true;
template <class R, class... Args>
inline constexpr bool is_completion_signature<R(Args...) && noexcept> = true;

template <class T, class Signature>
inline constexpr bool is_callable_with = false;
template <class T, class R, class... Args>
inline constexpr bool is_callable_with<T, R(Args...)> = std::is_invocable_v<T, Args...>;
template <class T, class R, class... Args>
inline constexpr bool is_callable_with<T, R(Args...)&> = std::is_invocable_v<T&, Args...>;
template <class T, class R, class... Args>
inline constexpr bool is_callable_with<T, R(Args...) &&> = std::is_invocable_v<T, Args...>;
template <class T, class R, class... Args>
inline constexpr bool is_callable_with<T, R(Args...) noexcept> = std::is_invocable_v<T, Args...>;
template <class T, class R, class... Args>
inline constexpr bool is_callable_with<T, R(Args...) & noexcept> = std::is_invocable_v<T&, Args...>;
template <class T, class R, class... Args>
inline constexpr bool is_callable_with<T, R(Args...) && noexcept> = std::is_invocable_v<T, Args...>;

/// A list of completion signatures.
template <class... Signatures>
struct signature_list {};

/// Replaces the parameter list of a signature, keeping its result and qualifiers:
/// `map_signature<F, R(Args...)>` is R(Params...), with `typename F<Args...>::type` =
/// signature_parameters<Params...>.
template <class... Params>
struct signature_parameters {};

template <class R, class Parameters>
struct make_signature;
template <class R, class... Params>
struct make_signature<R, signature_parameters<Params...>> {
  using plain = R(Params...);
  using lvalue = R(Params...) &;
  using rvalue = R(Params...) &&;
  using plain_noexcept = R(Params...) noexcept;
  using lvalue_noexcept = R(Params...) & noexcept;
  using rvalue_noexcept = R(Params...) && noexcept;
};

template <template <class...> class F, class Signature>
struct map_signature;
template <template <class...> class F, class R, class... Args>
struct map_signature<F, R(Args...)> {
  using type = typename make_signature<R, typename F<Args...>::type>::plain;
};
template <template <class...> class F, class R, class... Args>
struct map_signature<F, R(Args...)&> {
  using type = typename make_signature<R, typename F<Args...>::type>::lvalue;
};
template <template <class...> class F, class R, class... Args>
struct map_signature<F, R(Args...) &&> {
  using type = typename make_signature<R, typename F<Args...>::type>::rvalue;
};
template <template <class...> class F, class R, class... Args>
struct map_signature<F, R(Args...) noexcept> {
  using type = typename make_signature<R, typename F<Args...>::type>::plain_noexcept;
};
template <template <class...> class F, class R, class... Args>
struct map_signature<F, R(Args...) & noexcept> {
  using type = typename make_signature<R, typename F<Args...>::type>::lvalue_noexcept;
};
template <template <class...> class F, class R, class... Args>
struct map_signature<F, R(Args...) && noexcept> {
  using type = typename make_signature<R, typename F<Args...>::type>::rvalue_noexcept;
};
template <template <class...> class F, class Signature>
using map_signature_t = typename map_signature<F, Signature>::type;

template <class Signature>
struct plain_signature;
template <class R, class... Args>
struct plain_signature<R(Args...)> {
  using type = R(Args...);
  using result = R;
  using parameters = signature_parameters<Args...>;
};
template <class R, class... Args>
struct plain_signature<R(Args...)&> : plain_signature<R(Args...)> {};
template <class R, class... Args>
struct plain_signature<R(Args...) &&> : plain_signature<R(Args...)> {};
template <class R, class... Args>
struct plain_signature<R(Args...) noexcept> : plain_signature<R(Args...)> {};
template <class R, class... Args>
struct plain_signature<R(Args...) & noexcept> : plain_signature<R(Args...)> {};
template <class R, class... Args>
struct plain_signature<R(Args...) && noexcept> : plain_signature<R(Args...)> {};

/// The signature without its qualifiers.
template <class Signature>
using plain_signature_t = typename plain_signature<Signature>::type;

}  // namespace detail

/// A completion signature: the function type `R(Args...)`, perhaps qualified by `&`, `&&` or
/// `noexcept`, that says how an operation calls its handler. With `&` the handler is called as an
/// lvalue, otherwise as an rvalue.
template <class T>
concept completion_signature = detail::is_completion_signature<T>;

/// A handler that can be called with each of the completion signatures. It need only be
/// move-constructible.
template <class T, class... Signatures>
concept completion_handler_for =
    (completion_signature<Signatures> && ...) && std::move_constructible<std::decay_t<T>> &&
    std::destructible<std::decay_t<T>> &&
    (detail::is_callable_with<std::decay_t<T>, Signatures> && ...);

}  // namespace WEFT_NAMESPACE
