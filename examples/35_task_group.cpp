// SPDX-License-Identifier: BSL-1.0
// Lesson 35: a task group. What is started in it ends before it does: when one child fails, the
// others are cancelled, and with_task_group throws when all have ended. A deadline works likewise.
#include <cstdio>
#include <stdexcept>
#include <weft.hpp>
#include <weft/tasks.hpp>

using namespace std::chrono_literals;
using weft::awaitable;

awaitable<void> fetch(const char* name, std::chrono::milliseconds time) {
  weft::steady_timer timer(co_await weft::this_coro::executor, time);
  try {
    co_await timer.async_wait();
  } catch (const weft::system_error&) {
    std::printf("%s: cancelled\n", name);
    throw;
  }
  if (name[0] == '/')
    throw std::runtime_error("no such file");
  std::printf("%s: fetched\n", name);
}

awaitable<void> fetch_all(std::chrono::milliseconds limit, const char* last) {
  try {
    co_await weft::with_task_group([&](weft::task_group& group) -> awaitable<void> {
      group.expires_after(limit);
      group.spawn(fetch("a", 1ms));
      group.spawn(fetch("b", 1h));
      co_await fetch(last, 200ms);
    });
  } catch (const std::exception& e) {
    std::printf("all: %s\n", e.what());
  }
}

int main() {
  weft::io_context context;
  co_spawn(
      context,
      []() -> awaitable<void> {
        co_await fetch_all(1h, "/c");
        co_await fetch_all(400ms, "d");
      },
      weft::detached);
  context.run();
}
