// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <exception>

namespace bench {

/// The least that a coroutine can be: it begins when it is called, and is there until its handle is
/// destroyed.
struct bare_coroutine {
  struct promise_type {
    bare_coroutine get_return_object() noexcept {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<> handle;
};

}  // namespace bench
