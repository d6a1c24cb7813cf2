// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <string>

#include "harness/run.hpp"

// What fibers cost on one thread, over a library with Asio's vocabulary, which the including file
// names `lib`:
//   --what 0  100 fibers that let each other have their turn, as the library does that
//   --what 1  spawn of a fiber that does nothing, to its end
//   --what 2  a wait for a post to the fiber's executor
//   --what 3  spawn of a fiber that does nothing, and a wait for its end by another one
namespace fibers {

inline constexpr std::uint64_t crowd = 100;

inline void post(lib::io_context& context, std::uint64_t count, std::uint64_t& sum) {
  lib::spawn(
      context,
      [&, count](auto yield) {
        for (std::uint64_t i = 0; i != count; ++i) {
          lib::post(context, yield);
          sum += i;
        }
      },
      lib::detached);
  context.run();
}

inline void spawn(lib::io_context& context, std::uint64_t count, std::uint64_t& sum) {
  constexpr std::uint64_t batch = 64;
  for (std::uint64_t i = 0; i < count;) {
    for (const std::uint64_t end = std::min(count, i + batch); i != end; ++i)
      lib::spawn(context, [i, &sum](auto) { sum += i; }, lib::detached);
    context.run();
    context.restart();
  }
}

template <class Turn>
void turns(lib::io_context& context, std::uint64_t count, std::uint64_t& sum, Turn turn) {
  for (std::uint64_t n = 0; n != crowd; ++n)
    lib::spawn(
        context,
        [&, n, count](auto yield) {
          for (std::uint64_t i = n; i < count; i += crowd) {
            sum += i;
            turn(yield);
          }
        },
        lib::detached);
  context.run();
}

template <class Join>
void join(lib::io_context& context, std::uint64_t count, std::uint64_t& sum, Join join) {
  lib::spawn(
      context,
      [&, count](auto yield) {
        for (std::uint64_t i = 0; i != count; ++i)
          join(yield, [i, &sum](auto) { sum += i; });
      },
      lib::detached);
  context.run();
}

/// `turn(yield)` lets others have their turn, `join(yield, f)` runs a fiber to its end.
template <class Turn, class Join>
int main(int argc, char** argv, const char* name, const std::string& version, Turn turn,
         Join join_one) {
  const std::uint64_t what = bench::option(argc, argv, "--what", 0);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("fiber", name, version, [&] {
    lib::io_context context(1);
    std::uint64_t sum = 0;
    switch (what) {
      case 0: turns(context, count, sum, turn); break;
      case 1: spawn(context, count, sum); break;
      case 2: post(context, count, sum); break;
      default: join(context, count, sum, join_one); break;
    }
    return bench::result{.operations = count, .checksum = sum};
  });
}

}  // namespace fibers
