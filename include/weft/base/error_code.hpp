// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <system_error>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

// The error types are named here and nowhere else; the rest of the library says `error_code`.
using error_category = std::error_category;
using error_code = std::error_code;
using error_condition = std::error_condition;
using system_error = std::system_error;

/// The category of errno values.
inline const error_category& system_category() noexcept {
  return std::system_category();
}

namespace detail {

/// An error of the operating system, from a positive errno value.
inline error_code errno_code(int value) noexcept {
  return {value, system_category()};
}

[[noreturn]] WEFT_API void throw_error(const error_code& ec, const char* where);

/// Throws system_error("where: message") if `ec` is an error.
inline void throw_if(const error_code& ec, const char* where) {
  if (ec) [[unlikely]]
    throw_error(ec, where);
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
