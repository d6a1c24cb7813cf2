// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/async/completion_signature.hpp>
#include <weft/async/disposition.hpp>

namespace WEFT_NAMESPACE::detail {

/// What waiting for an operation with the results `Args...` gives: nothing, the value, or a tuple
/// of them.
template <class... Values>
struct awaited_value {
  using type = std::tuple<Values...>;
};
template <>
struct awaited_value<> {
  using type = void;
};
template <class Value>
struct awaited_value<Value> {
  using type = Value;
};

/// Keeps results for who waits for them in a function of its own: a coroutine or a fiber.
template <class... Args>
class result_keeper {
 public:
  using type = typename awaited_value<std::decay_t<Args>...>::type;

  template <class... A>
  void set(A&&... results) {
    results_.emplace(std::forward<A>(results)...);
  }
  type get() {
    if constexpr (sizeof...(Args) == 1)
      return std::get<0>(std::move(*results_));
    else if constexpr (sizeof...(Args) != 0)
      return std::move(*results_);
  }

 private:
  std::optional<std::tuple<std::decay_t<Args>...>> results_;
};

template <>
class result_keeper<> {
 public:
  using type = void;

  void set() const noexcept {}
  void get() const noexcept {}
};

/// The same of an operation's results. A disposition in front is thrown if it is an error, and
/// taken off; one behind it is a value.
template <class... Args>
class awaited_results : public result_keeper<Args...> {};

template <class First, class... Args>
  requires disposition<std::decay_t<First>>
class awaited_results<First, Args...> {
 public:
  using type = typename result_keeper<Args...>::type;

  template <class F, class... A>
  void set(F&& first, A&&... results) {
    disposition_ = std::forward<F>(first);
    results_.set(std::forward<A>(results)...);
  }
  type get() {
    if (disposition_ != no_error) [[unlikely]]
      throw_exception(std::move(disposition_));
    return results_.get();
  }

 private:
  std::decay_t<First> disposition_{};
  [[no_unique_address]] result_keeper<Args...> results_;
};

template <class Parameters>
struct awaited_results_of;
template <class... Args>
struct awaited_results_of<signature_parameters<Args...>> {
  using type = awaited_results<Args...>;
};

template <class Signature>
using awaited_results_t =
    typename awaited_results_of<typename plain_signature<Signature>::parameters>::type;

}  // namespace WEFT_NAMESPACE::detail
