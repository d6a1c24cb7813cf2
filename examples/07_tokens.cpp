// SPDX-License-Identifier: BSL-1.0
// Lesson 7: the completion token decides how the result is delivered. Here: as a future.
#include <cstdio>
#include <thread>
#include <weft.hpp>

int main() {
  weft::io_context context;
  auto work = weft::make_work_guard(context);
  std::thread runner([&] { context.run(); });

  weft::steady_timer timer(context, std::chrono::milliseconds(1));
  timer.async_wait(weft::use_future).get();
  std::puts("waited");

  timer.expires_after(std::chrono::hours(1));
  auto outcome = timer.async_wait(weft::as_tuple(weft::use_future));
  timer.cancel();
  const auto [ec] = outcome.get();
  std::puts(ec ? "cancelled" : "expired");

  work.reset();
  runner.join();
}
