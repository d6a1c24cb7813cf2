// SPDX-License-Identifier: BSL-1.0
// Lesson 30: calls that block. blocking() runs one on a thread that may be blocked, and waits for
// its result in any style, while the thread of the context does other things.
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <weft.hpp>

using namespace std::chrono_literals;

/// A function of a library that knows nothing of contexts.
int slow_square(int n) {
  if (n < 0)
    throw std::invalid_argument("negative");
  std::this_thread::sleep_for(200ms);
  return n * n;
}

int main() {
  weft::io_context context;
  int turns = 0;
  weft::spawn(
      context,
      [&](weft::yield_context yield) {
        const int result = weft::blocking([] { return slow_square(3); }, yield);
        std::printf("fiber: %d, others had their turn: %s\n", result, turns > 1 ? "yes" : "no");
        try {
          weft::blocking([] { return slow_square(-1); }, yield);
        } catch (const std::invalid_argument& e) {
          std::printf("fiber: %s\n", e.what());
        }
      },
      weft::detached);
  weft::spawn(
      context,
      [&](weft::yield_context yield) {
        for (weft::steady_timer timer(context); turns != 5; ++turns) {
          timer.expires_after(1ms);
          timer.async_wait(yield);
        }
      },
      weft::detached);
  context.run();
  weft::co_spawn(
      context,
      []() -> weft::awaitable<void> {
        std::printf("coroutine: %d\n", co_await weft::blocking([] { return slow_square(4); }));
      },
      weft::detached);
  context.restart();
  context.run();
}
