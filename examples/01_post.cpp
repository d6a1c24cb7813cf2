// SPDX-License-Identifier: BSL-1.0
// Lesson 1: a context runs the functions that are posted to it, on the thread that calls run().
#include <cstdio>
#include <weft.hpp>

int main() {
  weft::io_context context;
  weft::post(context, [] { std::puts("second"); });
  std::puts("first: nothing runs before run()");
  const auto handlers = context.run();
  std::printf("run() returned after %zu handler\n", handlers);
}
