// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/polymorphic_executor.hpp>

namespace WEFT_NAMESPACE {

const char* bad_executor::what() const noexcept {
  return "bad executor";
}

void detail::throw_bad_ts_executor() {
  throw bad_executor();
}

}  // namespace WEFT_NAMESPACE
