// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/child_task.hpp>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {

bool is_aborted(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const system_error& e) {
    return e.code() == error::operation_aborted;
  } catch (...) {
    return false;
  }
}

}  // namespace WEFT_NAMESPACE::detail
