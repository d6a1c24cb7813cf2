// SPDX-License-Identifier: BSL-1.0
// Lesson 36: a graph of tasks with deadlines. A task_manager starts each when those that it comes
// after are done, cancels what depends on a failure, and knows what became of every one.
#include <cstdio>
#include <string>
#include <weft.hpp>
#include <weft/tasks.hpp>

using namespace std::chrono_literals;
using weft::awaitable;

awaitable<std::string> read(std::string name, std::chrono::milliseconds time) {
  weft::steady_timer timer(co_await weft::this_coro::executor, time);
  co_await timer.async_wait();
  co_return "<" + name + ">";
}

int main() {
  weft::io_context context;
  weft::task_manager tasks(context, {.max_running = 4});
  auto left = tasks.start(read("left", 2ms), {.timeout = 1h});
  auto right = tasks.then(left, [](const std::string& text) { return text + "<right>"; });
  auto both = tasks.start([&] { return left.value() + right.value(); }, {.after = {left, right}});
  auto slow = tasks.start(read("slow", 1h), {.timeout = 5ms});
  auto unfed = tasks.then(slow, [](const std::string& text) { return text.size(); });
  auto report = tasks.start([] { std::puts("all have ended"); },
                            {.after = {both, unfed}, .after_failure = true});

  auto first = tasks.start([] {}, {.held = true});
  auto second = tasks.start([] {}, {.after = {first}});
  try {
    tasks.depends_on(first, second);
  } catch (const weft::task_cycle& cycle) {
    std::printf("a cycle of %zu tasks\n", cycle.tasks().size());
  }
  tasks.release(first);

  context.run();
  std::printf("both: %s, %s\n", to_string(both.state()), both.value().c_str());
  std::printf("slow: %s, unfed: %s, report: %s\n", to_string(slow.state()),
              to_string(unfed.state()), to_string(report.state()));
}
