// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <weft/async/token_adapter.hpp>
#include <weft/base/config.hpp>

// What bind_allocator, bind_cancellation_slot, bind_executor and bind_immediate_executor share.
namespace WEFT_NAMESPACE::detail {

// The result and argument types of a function pointer, or those that a class names.
template <class T>
struct bound_result {};
template <class T>
  requires requires { typename T::result_type; }
struct bound_result<T> {
  using result_type = typename T::result_type;
};
template <class T>
struct bound_arguments {};
template <class T>
  requires requires { typename T::argument_type; }
struct bound_arguments<T> {
  using argument_type = typename T::argument_type;
};
template <class T>
  requires requires {
    typename T::first_argument_type;
    typename T::second_argument_type;
  }
struct bound_arguments<T> {
  using first_argument_type = typename T::first_argument_type;
  using second_argument_type = typename T::second_argument_type;
};
template <class R, class... Args>
struct bound_result<R (*)(Args...)> {
  using result_type = R;
};
template <class R, class A>
struct bound_arguments<R (*)(A)> {
  using argument_type = A;
};
template <class R, class A, class B>
struct bound_arguments<R (*)(A, B)> {
  using first_argument_type = A;
  using second_argument_type = B;
};

/// A function object or token with a value that is associated with it. It is called as its target
/// is, and has the target's other associations. `Kind` tells the four binders apart.
template <class Kind, class T, class Value>
class binder : public bound_result<T>, public bound_arguments<T> {
 public:
  using target_type = T;

  template <class U>
    requires std::constructible_from<T, U>
  binder(const Value& value, U&& target)
      : value_(value), target_(Kind::template make<T>(value_, std::forward<U>(target))) {}

  template <class U, class OtherValue>
    requires std::constructible_from<Value, const OtherValue&> &&
                 std::constructible_from<T, const U&>
  binder(const binder<Kind, U, OtherValue>& other)
      : value_(other.value()), target_(Kind::template make<T>(value_, other.get())) {}
  template <class U, class OtherValue>
    requires std::constructible_from<Value, OtherValue> && std::constructible_from<T, U>
  binder(binder<Kind, U, OtherValue>&& other)
      : value_(other.value()), target_(Kind::template make<T>(value_, std::move(other.get()))) {}

  template <class U, class OtherValue>
    requires std::constructible_from<T, const U&>
  binder(const Value& value, const binder<Kind, U, OtherValue>& other)
      : binder(value, other.get()) {}
  template <class U, class OtherValue>
    requires std::constructible_from<T, U>
  binder(const Value& value, binder<Kind, U, OtherValue>&& other)
      : binder(value, std::move(other.get())) {}

  target_type& get() noexcept { return target_; }
  const target_type& get() const noexcept { return target_; }
  const Value& value() const noexcept { return value_; }

  template <class... Args>
  auto operator()(Args&&... args) & -> std::invoke_result_t<T&, Args...> {
    return target_(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto operator()(Args&&... args) && -> std::invoke_result_t<T, Args...> {
    return std::move(target_)(std::forward<Args>(args)...);
  }
  template <class... Args>
  auto operator()(Args&&... args) const& -> std::invoke_result_t<const T&, Args...> {
    return target_(std::forward<Args>(args)...);
  }

  using association_source = T;
  const T& get_association_source() const noexcept { return target_; }

 private:
  [[no_unique_address]] Value value_;
  [[no_unique_address]] T target_;
};

/// How a binder makes its target.
struct plain_binder_kind {
  template <class T, class Value, class U>
  static T make(const Value&, U&& target) {
    return T(std::forward<U>(target));
  }
};

/// Wraps the handler of the target token in a binder: `Binder<Handler>(value, handler)`.
template <template <class, class> class Binder, class Value>
struct binder_adapter {
  template <class Handler>
  auto operator()(Handler&& handler) && {
    return Binder<std::decay_t<Handler>, Value>(value, std::forward<Handler>(handler));
  }

  [[no_unique_address]] Value value;
};

/// The target of a binder passed as `Token`, with its value category.
template <class Token>
constexpr decltype(auto) binder_target(std::remove_reference_t<Token>& token) noexcept {
  if constexpr (std::is_lvalue_reference_v<Token>)
    return token.get();
  else
    return std::move(token.get());
}

/// The async_result of a binder: starts the operation with the target token.
template <template <class, class> class Binder, class Value, class... Signatures>
struct binder_result {
  template <class Initiation, class Token, class... Args>
  static auto initiate(Initiation&& initiation, Token&& token, Args&&... args)
      -> decltype(detail::initiate_adapted(signature_list<Signatures...>(),
                                           std::forward<Initiation>(initiation),
                                           std::declval<binder_adapter<Binder, Value>>(),
                                           binder_target<Token>(token),
                                           std::forward<Args>(args)...)) {
    return detail::initiate_adapted(signature_list<Signatures...>(),
                                    std::forward<Initiation>(initiation),
                                    binder_adapter<Binder, Value>{token.value()},
                                    binder_target<Token>(token), std::forward<Args>(args)...);
  }
};

/// `bind_...(value)`: adapts a token, by default the operation's default token.
template <template <class, class> class Binder, class Value>
class partial_binder {
 public:
  using is_partial_token = void;

  explicit partial_binder(const Value& value) : value_(value) {}

  template <class CompletionToken>
  [[nodiscard]] constexpr Binder<std::decay_t<CompletionToken>, Value> operator()(
      CompletionToken&& completion_token) const {
    return Binder<std::decay_t<CompletionToken>, Value>(
        value_, std::forward<CompletionToken>(completion_token));
  }

 private:
  [[no_unique_address]] Value value_;
};

}  // namespace WEFT_NAMESPACE::detail
