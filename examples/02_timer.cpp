// SPDX-License-Identifier: BSL-1.0
// Lesson 2: a timer waits without holding a thread. Two of them, and the shorter ends first.
#include <cstdio>
#include <weft.hpp>

using namespace std::chrono_literals;

int main() {
  weft::io_context context;
  weft::steady_timer slow(context, 20ms), fast(context, 1ms);
  slow.async_wait([](weft::error_code) { std::puts("slow"); });
  fast.async_wait([](weft::error_code) { std::puts("fast"); });
  context.run();
}
