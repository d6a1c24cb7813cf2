// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

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

  /// Names a call for who is to tell of its end, long after it perhaps: another call may have the
  /// same address by then, but not the same number, if it is on the same thread.
  struct name {
    const in_place_call* call;
    std::uint64_t number;
  };

  in_place_call() noexcept : number_(++last_number_), outer_(innermost_) { innermost_ = this; }
  in_place_call(const in_place_call&) = delete;
  in_place_call& operator=(const in_place_call&) = delete;
  ~in_place_call() { innermost_ = outer_; }

  name get_name() const noexcept { return {this, number_}; }
  outcome result() const noexcept { return outcome_; }

  /// The operation that was started in the call `n` has ended so. False if this thread is not, or
  /// no longer, in it.
  static bool ended(const name& n, outcome how) noexcept {
    for (in_place_call* call = innermost_; call; call = call->outer_)
      if (call == n.call && call->number_ == n.number) {
        call->outcome_ = how;
        return true;
      }
    return false;
  }

 private:
  static constinit thread_local in_place_call* innermost_;
  static constinit thread_local std::uint64_t last_number_;

  const std::uint64_t number_;
  in_place_call* const outer_;
  outcome outcome_ = outcome::pending;
};

}  // namespace WEFT_NAMESPACE::detail
