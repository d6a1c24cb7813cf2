// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/run.hpp"

// What coroutines cost on one thread, over a library with Asio's vocabulary, which the including
// file names `lib`:
//   --what 0  co_await of a coroutine that returns at once
//   --what 1  co_await of a post to the coroutine's executor
//   --what 2  co_spawn of an empty coroutine, to its end
namespace coroutine {

[[gnu::noinline]] inline lib::awaitable<std::uint64_t> number(std::uint64_t n) {
  co_return n;
}

inline lib::awaitable<void> call(std::uint64_t count, std::uint64_t& sum) {
  for (std::uint64_t i = 0; i != count; ++i)
    sum += co_await number(i);
}

inline lib::awaitable<void> post(std::uint64_t count, std::uint64_t& sum) {
  const auto executor = co_await lib::this_coro::executor;
  for (std::uint64_t i = 0; i != count; ++i) {
    co_await lib::post(executor, lib::deferred);
    sum += i;
  }
}

inline lib::awaitable<void> empty(std::uint64_t n, std::uint64_t& sum) {
  sum += n;
  co_return;
}

inline void spawn(lib::io_context& context, std::uint64_t count, std::uint64_t& sum) {
  constexpr std::uint64_t batch = 64;
  for (std::uint64_t i = 0; i < count;) {
    for (const std::uint64_t end = std::min(count, i + batch); i != end; ++i)
      co_spawn(context, empty(i, sum), lib::detached);
    context.run();
    context.restart();
  }
}

inline bench::result run(std::uint64_t what, std::uint64_t count) {
  lib::io_context context(1);
  std::uint64_t sum = 0;
  if (what == 0)
    co_spawn(context, call(count, sum), lib::detached);
  else if (what == 1)
    co_spawn(context, post(count, sum), lib::detached);
  else
    spawn(context, count, sum);
  context.run();
  return {.operations = count, .checksum = sum};
}

inline int main(int argc, char** argv, const char* name, const std::string& version) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 0);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("coroutine", name, version, [&] { return run(what, count); });
}

}  // namespace coroutine
