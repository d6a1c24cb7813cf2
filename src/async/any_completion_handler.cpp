// SPDX-License-Identifier: BSL-1.0
#include <functional>

#include <weft/async/any_completion_handler.hpp>

namespace WEFT_NAMESPACE::detail {

void throw_bad_function_call() {
  throw std::bad_function_call();
}

}  // namespace WEFT_NAMESPACE::detail
