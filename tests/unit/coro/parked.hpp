// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>

namespace weft_test {

/// Waits until somebody resumes the handle.
struct parked {
  std::coroutine_handle<>& handle;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) const noexcept { handle = h; }
  void await_resume() const noexcept {}
};

}  // namespace weft_test
