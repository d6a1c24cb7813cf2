// SPDX-License-Identifier: BSL-1.0
// Lesson 27: generators. A generator is a range whose elements a coroutine yields as they are asked
// for; an async_generator may wait in between, and its consumer awaits each element.
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>
#include <weft.hpp>
#include <weft/coroutines.hpp>

struct folder {
  std::string name;
  std::vector<folder> folders;
};

weft::generator<const folder&> walk(const folder& f) {
  co_yield f;
  for (const folder& inner : f.folders)
    co_yield weft::elements_of(walk(inner));
}

weft::async_generator<int> ticks(int count) {
  weft::steady_timer timer(co_await weft::this_coro::executor);
  for (int i = 1; i <= count; ++i) {
    timer.expires_after(std::chrono::milliseconds(1));
    co_await timer.async_wait();
    co_yield i;
  }
}

weft::task<void> watch() {
  auto source = ticks(3);
  while (const auto tick = co_await source.next())
    std::printf("tick %d\n", *tick);
}

int main() {
  const folder root{"root", {{"docs", {}}, {"src", {{"coro", {}}}}}};
  for (const folder& f : walk(root))
    std::printf("%s\n", f.name.c_str());

  weft::io_context context;
  co_spawn(context, watch(), weft::detached);
  context.run();
}
