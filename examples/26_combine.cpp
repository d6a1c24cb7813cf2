// SPDX-License-Identifier: BSL-1.0
// Lesson 26: waiting for several at a time. when_all, when_any and when_some take operations of all
// kinds, and keep what comes of each; the losers are cancelled, and awaited.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <vector>
#include <weft.hpp>

using weft::awaitable;
using namespace std::chrono_literals;

awaitable<int> slow_answer() {
  weft::steady_timer timer(co_await weft::this_coro::executor, 1h);
  co_await timer.async_wait();
  co_return 1;
}

awaitable<int> failure() {
  throw std::runtime_error("failed");
  co_return 0;
}

awaitable<void> lesson(weft::io_context& context) {
  // An operation, a future and a coroutine: each outcome is a value or an exception.
  weft::steady_timer timer(context, 1ms);
  auto [waited, sum, failed] =
      co_await when_all(timer.async_wait(), weft::async(context, [] { return 40 + 2; }), failure());
  std::printf("all: waited %d, sum %d, failed %d\n", waited.has_value(), sum.get(),
              failed.has_error());

  // A timeout: the first wins, the other is cancelled.
  timer.expires_after(1ms);
  auto [first, outcomes] = co_await when_any(slow_answer(), timer.async_wait());
  std::printf("any: number %zu was first, the answer %s\n", first,
              std::get<0>(outcomes).has_value() ? "came" : "was cancelled");

  // Of a range; none is an answer, too.
  std::vector<weft::future<int>> squares;
  for (int i = 1; i <= 3; ++i)
    squares.push_back(weft::async(context, [i] { return i * i; }));
  for (auto& square : co_await when_all(std::move(squares)))
    std::printf("square: %d\n", square.get());
  const auto none = co_await when_all(std::vector<weft::future<int>>());
  std::printf("none: %zu\n", none.size());
}

int main() {
  weft::io_context context;
  co_spawn(context, lesson(context), weft::detached);
  context.run();
}
