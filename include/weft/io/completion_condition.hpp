// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>

#include <weft/base/error_code.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

// The result must be a count. A handler, which returns nothing or something else, is thereby told
// from a condition where both may stand.
template <class T>
concept completion_condition =
    std::move_constructible<T> && requires(T& condition, const error_code& ec, std::size_t n) {
      { condition(ec, n) } -> std::integral;
      requires !std::same_as<decltype(condition(ec, n)), bool>;
    };

/// What conditions return to ask for as much as there is room for.
inline constexpr std::size_t no_limit = static_cast<std::size_t>(-1);

struct transfer_all_condition {
  std::size_t operator()(const error_code& ec, std::size_t) const noexcept {
    return ec ? 0 : no_limit;
  }
};

struct transfer_at_least_condition {
  std::size_t minimum;
  std::size_t operator()(const error_code& ec, std::size_t transferred) const noexcept {
    return ec || transferred >= minimum ? 0 : no_limit;
  }
};

struct transfer_exactly_condition {
  std::size_t size;
  std::size_t operator()(const error_code& ec, std::size_t transferred) const noexcept {
    return ec || transferred >= size ? 0 : size - transferred;
  }
};

}  // namespace detail

/// True where `T` can be the completion condition of a read or a write: a function object
///
///     std::size_t condition(const error_code& ec,       // of the last call on the stream
///                           std::size_t transferred);   // bytes so far
///
/// that returns the most bytes to ask for in the next call, or 0 to end the operation. It is asked
/// before the first call too, with no error and 0 bytes.
template <class T>
struct is_completion_condition : std::bool_constant<detail::completion_condition<T>> {};

/// Goes on until the buffers are used up or an error occurs.
inline detail::transfer_all_condition transfer_all() noexcept {
  return {};
}

/// Goes on until at least `minimum` bytes have been transferred or an error occurs.
inline detail::transfer_at_least_condition transfer_at_least(std::size_t minimum) noexcept {
  return {minimum};
}

/// Goes on until exactly `size` bytes have been transferred or an error occurs.
inline detail::transfer_exactly_condition transfer_exactly(std::size_t size) noexcept {
  return {size};
}

}  // namespace WEFT_NAMESPACE
