// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <exception>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// Thrown by the awaitable operators if both operands have failed, each on its own account.
class multiple_exceptions : public std::exception {
 public:
  explicit multiple_exceptions(std::exception_ptr first) noexcept : first_(std::move(first)) {}

  const char* what() const noexcept override { return "multiple exceptions"; }
  /// The one that came first.
  std::exception_ptr first_exception() const { return first_; }

 private:
  std::exception_ptr first_;
};

}  // namespace WEFT_NAMESPACE
