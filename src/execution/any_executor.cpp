// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/any_executor_target.hpp>

namespace WEFT_NAMESPACE {

const char* execution::bad_executor::what() const noexcept {
  return "bad executor";
}

void detail::throw_bad_executor() {
  throw execution::bad_executor();
}

}  // namespace WEFT_NAMESPACE
