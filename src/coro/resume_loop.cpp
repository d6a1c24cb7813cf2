// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/resume_loop.hpp>

namespace WEFT_NAMESPACE::detail {

constinit thread_local resume_loop* resume_loop::innermost_ = nullptr;
constinit thread_local std::uintptr_t resume_loop::lowest_ = 0;

// The stack may be another one altogether, a fiber's say: so the chain decides.
std::coroutine_handle<> resume_loop::transfer_far_below(std::coroutine_handle<> h,
                                                        const chain* c) noexcept {
  if (!innermost_ || innermost_->chain_ != c)
    return h;
  innermost_->next_ = h;
  return std::noop_coroutine();
}

}  // namespace WEFT_NAMESPACE::detail
