// SPDX-License-Identifier: BSL-1.0
// Lesson 3: a cancel that has returned has won, from whichever thread it came.
#include <cstdio>
#include <thread>
#include <weft.hpp>

int main() {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  timer.async_wait([](weft::error_code ec) {
    std::printf("%s\n", ec == weft::error::operation_aborted ? "cancelled" : "expired");
  });
  std::thread other([&] { std::printf("cancelled %zu wait\n", timer.cancel()); });
  other.join();
  context.run();
}
