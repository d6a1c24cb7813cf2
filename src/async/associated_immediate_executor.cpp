// SPDX-License-Identifier: BSL-1.0
#include <weft/async/associated_immediate_executor.hpp>

#include <weft/execution/any_io_executor.hpp>

namespace WEFT_NAMESPACE::detail {

any_io_executor never_inline(const any_io_executor& ex) {
  return require(ex, execution::blocking.never);
}

}  // namespace WEFT_NAMESPACE::detail
