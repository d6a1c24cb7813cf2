// SPDX-License-Identifier: BSL-1.0
// Lesson 21: what a context does, as numbers. Counts are always there; times are measured on
// demand.
#include <cstdio>
#include <weft.hpp>

int main() {
  weft::io_context context({.measure = true});
  weft::steady_timer timer(context, std::chrono::hours(1));
  timer.async_wait([](weft::error_code) {});
  weft::post(context, [&] {
    for (int i = 0; i != 999; ++i)
      weft::post(context, [] {});
    const weft::observe::metrics now(context);  // from any thread, at any time
    std::printf("waiting: %ju, timers: %zu\n", std::uintmax_t(now.waiting), now.pending.timers);
  });
  context.poll();

  const weft::observe::metrics now(context);
  std::printf("handlers run: %ju, on %s\n", std::uintmax_t(now.total.run),
              weft::to_string(now.backend));
  std::printf("of a sample of them, half ran for less than %jd ns\n",
              std::intmax_t(now.run_time.p50().count()));
}
