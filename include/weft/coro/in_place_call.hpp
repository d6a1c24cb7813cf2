// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// The call of an initiating function on behalf of what waits for the operation: a coroutine or a
/// fiber. While it lasts, the operation may complete, or be dropped, on this very thread; what
/// waits then goes on by itself when the call has returned. On another thread it is resumed at
/// once, perhaps before the call has returned: so the call lives on the stack, and touches nothing
/// of the waiter's.
class WEFT_API in_place_call {
 public:
  enum class outcome : unsigned char { pending, completed, dropped };

  /// `waiter` names it, and is not looked into.
  explicit in_place_call(const void* waiter) noexcept : waiter_(waiter), outer_(innermost_) {
    innermost_ = this;
  }
  in_place_call(const in_place_call&) = delete;
  in_place_call& operator=(const in_place_call&) = delete;
  ~in_place_call() { innermost_ = outer_; }

  outcome result() const noexcept { return outcome_; }

  /// The operation of `waiter` has ended so. False if this thread is not in its initiating
  /// function.
  static bool ended(const void* waiter, outcome how) noexcept {
    for (in_place_call* call = innermost_; call; call = call->outer_)
      if (call->waiter_ == waiter) {
        call->outcome_ = how;
        return true;
      }
    return false;
  }

 private:
  static constinit thread_local in_place_call* innermost_;

  const void* const waiter_;
  in_place_call* const outer_;
  outcome outcome_ = outcome::pending;
};

}  // namespace WEFT_NAMESPACE::detail
