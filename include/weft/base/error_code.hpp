// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
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

/// An error_code that costs next to nothing while there is no error: the category of success is
/// looked up only where somebody wants to know it.
class stored_error {
 public:
  stored_error() = default;
  stored_error(const error_code& ec) noexcept : value_(ec.value()), category_(&ec.category()) {}
  stored_error& operator=(const error_code& ec) noexcept { return *this = stored_error(ec); }

  void clear() noexcept { value_ = 0; }
  explicit operator bool() const noexcept { return value_ != 0; }
  operator error_code() const noexcept {
    return value_ == 0 ? error_code() : error_code(value_, *category_);
  }

 private:
  int value_ = 0;
  const error_category* category_;  // of an error
};

[[noreturn]] WEFT_API void throw_error(const error_code& ec, const char* where);

/// Throws system_error("where: message") if `ec` is an error.
inline void throw_if(const error_code& ec, const char* where) {
  if (ec) [[unlikely]]
    throw_error(ec, where);
}

/// A system_error, or std::bad_alloc if there is no memory for its text.
WEFT_API std::exception_ptr exception_of(const error_code& ec,
                                         const char* where = nullptr) noexcept;

}  // namespace detail
}  // namespace WEFT_NAMESPACE
