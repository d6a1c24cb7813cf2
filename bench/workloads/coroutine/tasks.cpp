// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <optional>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/generator.hpp>
#include <weft/coro/task.hpp>

#include "harness/run.hpp"
#include "harness/weft_net.hpp"

// The same call as coroutine.hpp's, and steps of generators, in weft's own forms:
//   --what 0  co_await of a task that returns at once
//   --what 1  an element of a generator
//   --what 2  an element of an async_generator that does not wait
namespace {

[[gnu::noinline]] weft::task<std::uint64_t> number(std::uint64_t n) {
  co_return n;
}

weft::task<void> call(std::uint64_t count, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i != count; ++i)
    sum += co_await number(i);
}

weft::generator<std::uint64_t> numbers(std::uint64_t count) {
  for (std::uint64_t i = 0; i != count; ++i)
    co_yield i;
}

weft::async_generator<std::uint64_t> async_numbers(std::uint64_t count) {
  for (std::uint64_t i = 0; i != count; ++i)
    co_yield i;
}

weft::task<void> consume(std::uint64_t count, std::uint64_t& sum) {
  auto source = async_numbers(count);
  while (const std::optional<std::uint64_t> n = co_await source.next())
    sum += *n;
}

bench::result run(std::uint64_t what, std::uint64_t count) {
  std::uint64_t sum = 0;
  if (what == 1) {
    for (const std::uint64_t n : numbers(count))
      sum += n;
  } else {
    weft::io_context context(1);
    co_spawn(context, what == 0 ? call(count, sum) : consume(count, sum), weft::detached);
    context.run();
  }
  return {.operations = count, .checksum = sum};
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 0);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("coroutine", "tasks", bench::weft_net::version(),
                        [&] { return run(what, count); });
}
