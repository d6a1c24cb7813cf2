// SPDX-License-Identifier: BSL-1.0
// Two fibers and a coroutine wait; then the program stops for gdb to look at them.
#include <csignal>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/sync/channel.hpp>

using numbers = weft::channel<int>;

[[gnu::noinline]] int next_number(numbers& from, weft::yield_context yield) {
  const int number = from.async_receive(yield);
  return number + 1;
}

[[gnu::noinline]] int add_numbers(numbers& from, int how_many, weft::yield_context yield) {
  int sum = 0;
  for (int i = 0; i != how_many; ++i)
    sum += next_number(from, yield);
  return sum;
}

int main() {
  weft::io_context context{1};
  numbers from(context, 0);
  for (const int how_many : {11, 22})
    weft::spawn(
        context,
        [&from, how_many](weft::yield_context yield) { add_numbers(from, how_many, yield); },
        weft::detached);
  co_spawn(
      context, [&from]() -> weft::awaitable<void> { co_await from.async_receive(); },
      weft::detached);
  context.poll();
  std::raise(SIGINT);
}
