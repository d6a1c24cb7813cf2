// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "harness/run.hpp"

// Switches into contexts of a library and out again, without a scheduler:
//   --contexts N  how many there are; up to 1,000 in order, more in a pseudo-random one
//   --count N     how often one is switched to and from
// Each context adds its number to a sum whenever it is resumed.
namespace switches {

inline std::uint64_t sum = 0;

inline std::vector<std::uint32_t> make_order(std::uint64_t n) {
  std::vector<std::uint32_t> order;
  if (n <= 1000) {
    for (std::uint32_t i = 0; i != n; ++i)
      order.push_back(i);
    return order;
  }
  std::uint64_t x = 1;
  for (std::uint64_t i = 0; i != 16 * n; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    order.push_back(static_cast<std::uint32_t>((x >> 33) % n));
  }
  return order;
}

/// `Contexts` has a constructor (n), and `resume(i)`.
template <class Contexts>
int main(int argc, char** argv, const char* name, const char* note) {
  const std::uint64_t n = bench::option(argc, argv, "--contexts", 100);
  const std::uint64_t count = bench::option(argc, argv, "--count", 10'000'000);
  const std::vector<std::uint32_t> order = make_order(n);
  Contexts contexts(n);
  for (std::uint64_t i = 0; i != n; ++i)
    contexts.resume(i);
  return bench::measure("fiber", name, note, [&] {
    bench::result result{.operations = count};
    for (std::uint64_t left = count; left != 0;) {
      const std::uint64_t turns = std::min<std::uint64_t>(left, order.size());
      const std::uint32_t* const end = order.data() + turns;
      for (const std::uint32_t* at = order.data(); at != end; ++at)
        contexts.resume(*at);
      left -= turns;
    }
    result.checksum = sum;
    return result;
  });
}

}  // namespace switches
