// SPDX-License-Identifier: BSL-1.0
// Lesson 13: a context for one thread only. Handlers share what they like, without a lock.
#include <cstdio>
#include <map>
#include <string>
#include <weft.hpp>

int main() {
  weft::io_context context{weft::single_thread};
  std::map<std::string, int> counts;
  weft::steady_timer timer(context);
  int ticks = 0;
  const auto tick = [&](auto self) -> void {
    timer.expires_after(std::chrono::milliseconds(1));
    timer.async_wait([&, self](weft::error_code) {
      ++counts["timer"];
      weft::post(context, [&] { ++counts["post"]; });
      if (++ticks != 3)
        self(self);
    });
  };
  tick(tick);
  context.run();
  for (const auto& [what, count] : counts)
    std::printf("%s: %d\n", what.c_str(), count);
}
