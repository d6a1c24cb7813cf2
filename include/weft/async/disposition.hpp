// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE {

/// How a type says whether an operation failed. Specialise it for an error type of your own, and
/// use_future, redirect_disposition and coroutines treat it as they treat error_code:
///   `static bool not_an_error(const T&) noexcept`,
///   `static void throw_exception(T)`, which does not return, and is called for errors only,
///   `static std::exception_ptr to_exception_ptr(T) noexcept`, null if there is no error.
template <class T>
struct disposition_traits;

/// A type whose values say that an operation succeeded, or why it failed.
template <class T>
concept disposition =
    std::is_nothrow_default_constructible_v<T> && std::is_nothrow_move_constructible_v<T> &&
    std::is_nothrow_move_assignable_v<T> && requires(const T& c, T&& t) {
      { disposition_traits<T>::not_an_error(c) } -> std::convertible_to<bool>;
      disposition_traits<T>::throw_exception(std::move(t));
      { disposition_traits<T>::to_exception_ptr(std::move(t)) } -> std::same_as<std::exception_ptr>;
    };

template <class T>
struct is_disposition : std::bool_constant<disposition<T>> {};
template <class T>
inline constexpr bool is_disposition_v = is_disposition<T>::value;

/// The disposition that is never an error. `d == no_error` asks any disposition.
struct no_error_t {
  constexpr no_error_t() = default;
  friend constexpr bool operator==(const no_error_t&, const no_error_t&) noexcept { return true; }

  template <disposition Disposition>
    requires(!std::same_as<Disposition, no_error_t>)
  friend constexpr bool operator==(const no_error_t&, const Disposition& d) noexcept {
    return disposition_traits<Disposition>::not_an_error(d);
  }
};

inline constexpr no_error_t no_error;

template <>
struct disposition_traits<no_error_t> {
  static bool not_an_error(const no_error_t&) noexcept { return true; }
  static void throw_exception(no_error_t) {}
  static std::exception_ptr to_exception_ptr(no_error_t) noexcept { return nullptr; }
};

template <>
struct disposition_traits<error_code> {
  static bool not_an_error(const error_code& ec) noexcept { return !ec; }
  [[noreturn]] static void throw_exception(const error_code& ec) { throw system_error(ec); }
  static std::exception_ptr to_exception_ptr(const error_code& ec) noexcept {
    return ec ? detail::exception_of(ec) : nullptr;
  }
};

template <>
struct disposition_traits<std::exception_ptr> {
  static bool not_an_error(const std::exception_ptr& e) noexcept { return !e; }
  [[noreturn]] static void throw_exception(std::exception_ptr e) {
    std::rethrow_exception(std::move(e));
  }
  static std::exception_ptr to_exception_ptr(std::exception_ptr e) noexcept { return e; }
};

/// Throws the exception for the error that `d` is. Requires `d != no_error`.
template <class Disposition>
  requires disposition<std::decay_t<Disposition>>
void throw_exception(Disposition&& d) {
  disposition_traits<std::decay_t<Disposition>>::throw_exception(std::forward<Disposition>(d));
}

/// The exception for the error that `d` is, or null.
template <class Disposition>
  requires disposition<std::decay_t<Disposition>>
std::exception_ptr to_exception_ptr(Disposition&& d) noexcept {
  return disposition_traits<std::decay_t<Disposition>>::to_exception_ptr(
      std::forward<Disposition>(d));
}

}  // namespace WEFT_NAMESPACE
