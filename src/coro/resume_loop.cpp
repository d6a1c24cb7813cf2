// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/resume_loop.hpp>

namespace WEFT_NAMESPACE::detail {

constinit thread_local resume_loop* resume_loop::innermost_ = nullptr;

}  // namespace WEFT_NAMESPACE::detail
