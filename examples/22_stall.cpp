// SPDX-License-Identifier: BSL-1.0
// Lesson 22: who holds the thread? A detector names handlers that block, and where they were
// posted.
#include <cstdio>
#include <latch>
#include <weft.hpp>

struct import_of_everything {
  std::latch& seen;
  void operator()() const { seen.wait(); }  // blocks until the detector has seen it
};

int main() {
  weft::io_context context;
  std::latch seen(1);
  const weft::observe::stall_detector detector(
      context, {.limit = std::chrono::milliseconds(10), .origins = true},
      [&](const weft::observe::stall& s) {  // without it, the report goes to stderr
        if (s.has_ended)
          return;
        std::printf("%s holds a thread\n", s.handler.c_str());
        std::printf("posted by %s\n", s.origin.empty() ? "?" : s.origin[0].function.c_str());
        for (const auto& frame : s.stack)  // where it is now
          std::fprintf(stderr, "  %s\n", frame.function.c_str());
        seen.count_down();
      });
  weft::post(context, import_of_everything{seen});
  context.run();
}
