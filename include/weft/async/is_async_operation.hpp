// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>
#include <utility>

#include <weft/async/async_initiate.hpp>

namespace WEFT_NAMESPACE {
namespace detail {

/// A token that starts nothing and tells the signatures of the operation it was given to.
struct signature_probe {};

template <class T>
inline constexpr bool is_signature_list = false;
template <class... Signatures>
inline constexpr bool is_signature_list<signature_list<Signatures...>> = true;

template <class List>
struct only_signature {};
template <class Signature>
struct only_signature<signature_list<Signature>> {
  using type = Signature;
};

}  // namespace detail

template <class... Signatures>
class async_result<detail::signature_probe, Signatures...> {
 public:
  template <class Initiation, class Token, class... Args>
  static detail::signature_list<Signatures...> initiate(Initiation&&, Token&&, Args&&...) {
    return {};
  }
};

namespace detail {

template <class T, class... Args>
concept async_operation_call = requires(T&& t, Args&&... args) {
  requires is_signature_list<std::decay_t<decltype(std::forward<T>(t)(
      std::forward<Args>(args)..., std::declval<signature_probe>()))>>;
};

/// The signatures of the operation that `T(Args..., token)` starts, as a signature_list.
template <class T, class... Args>
  requires async_operation_call<T, Args...>
using operation_signatures_t = std::decay_t<std::invoke_result_t<T, Args..., signature_probe>>;

}  // namespace detail

/// Whether `T(Args..., token)` starts an asynchronous operation: a function object or a deferred
/// operation that ends in a call of async_initiate.
template <class T, class... Args>
struct is_async_operation : std::bool_constant<detail::async_operation_call<T, Args...>> {};

template <class T, class... Args>
inline constexpr bool is_async_operation_v = is_async_operation<T, Args...>::value;

template <class T, class... Args>
concept async_operation = is_async_operation<T, Args...>::value;

/// The completion signature of the operation that `T(Args..., token)` starts, as `type`; there is
/// no `type` if the operation has several signatures.
template <class T, class... Args>
struct completion_signature_of
    : detail::only_signature<detail::operation_signatures_t<T, Args...>> {};

template <class T, class... Args>
using completion_signature_of_t = typename completion_signature_of<T, Args...>::type;

}  // namespace WEFT_NAMESPACE
