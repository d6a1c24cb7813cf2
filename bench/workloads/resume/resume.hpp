// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "harness/run.hpp"

// A coroutine that waits again and again, and is resumed from outside, out and back: `--coroutines`
// of them in turn, `--count` resumptions in all, each with a number.
namespace resume {

/// `Waiter` is a coroutine that adds to a sum what `resume(n)` gives it.
template <class Waiter>
bench::result run(std::uint64_t coroutines, std::uint64_t count) {
  std::uint64_t sum = 0;
  std::vector<std::unique_ptr<Waiter>> waiters;
  for (std::uint64_t i = 0; i != coroutines; ++i)
    waiters.push_back(std::make_unique<Waiter>(sum));
  for (std::uint64_t i = 0; i < count;)
    for (std::uint64_t w = 0; w != coroutines && i != count; ++w, ++i)
      waiters[w]->resume(i);
  return {.operations = count, .checksum = sum};
}

template <class Waiter>
int main(int argc, char** argv, const char* name, const std::string& note) {
  const std::uint64_t coroutines = bench::option(argc, argv, "--coroutines", 100);
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("resume", name, note, [&] { return run<Waiter>(coroutines, count); });
}

}  // namespace resume
