// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/any_io_executor.hpp>

namespace WEFT_NAMESPACE::detail {

execution_context& executor_context(const any_io_executor& ex) noexcept {
  return query(ex, execution::context);
}

}  // namespace WEFT_NAMESPACE::detail
