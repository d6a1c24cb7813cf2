// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/awaitable_operators.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

/// Whether this is what a cancelled operation says.
bool says_aborted(const std::exception_ptr& failure) noexcept {
  try {
    std::rethrow_exception(failure);
  } catch (const system_error& e) {
    return e.code() == error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace

void throw_both(const std::exception_ptr& first, const std::exception_ptr& second) {
  if (says_aborted(second))
    std::rethrow_exception(first);
  throw multiple_exceptions(first);
}

}  // namespace WEFT_NAMESPACE::detail
