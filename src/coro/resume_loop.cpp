// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/resume_loop.hpp>

namespace WEFT_NAMESPACE::detail {

constinit thread_local resume_loop* resume_loop::innermost_ = nullptr;
constinit thread_local std::uintptr_t resume_loop::lowest_ = no_stack;

// The stack may be another one altogether, a fiber's say: so the chain decides.
bool resume_loop::go_on_later(std::coroutine_handle<> h, const chain& c) noexcept {
  if (!innermost_ || innermost_->chain_ != &c)
    return false;
  innermost_->next_ = h;
  return true;
}

bool resume_loop::end(const chain& c) noexcept {
  if (!innermost_ || innermost_->chain_ != &c)
    return false;
  innermost_->ended_ = true;
  return true;
}

resume_loop::~resume_loop() {
  innermost_ = outer_;
  lowest_ = outer_lowest_;
}

}  // namespace WEFT_NAMESPACE::detail
