// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/resume_loop.hpp>

#include <limits>

namespace WEFT_NAMESPACE::detail {

constinit thread_local resume_loop* resume_loop::innermost_ = nullptr;
constinit thread_local std::uintptr_t resume_loop::lowest_ =
    std::numeric_limits<std::uintptr_t>::max();

// The stack may be another one altogether, a fiber's say: so the chain decides.
bool resume_loop::go_on_later(std::coroutine_handle<> h, const chain& c) noexcept {
  if (!innermost_ || innermost_->chain_ != &c)
    return false;
  innermost_->next_ = h;
  return true;
}

}  // namespace WEFT_NAMESPACE::detail
