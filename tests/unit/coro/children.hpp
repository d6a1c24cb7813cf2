// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <stdexcept>

#include <weft/context/post.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/this_coro.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/error_code.hpp"

// What groups and managers of tasks are given to do, and what they report.
namespace weft_test {

constexpr auto forever = std::chrono::steady_clock::duration::max();

inline weft::awaitable<void> fail(const char* what) {
  throw std::runtime_error(what);
  co_return;
}

/// Waits until it is cancelled.
inline weft::awaitable<void> sleep() {
  weft::steady_timer timer(co_await weft::this_coro::executor, forever);
  co_await timer.async_wait();
}

inline weft::awaitable<void> yield() {
  co_await weft::post(co_await weft::this_coro::executor);
}

}  // namespace weft_test
