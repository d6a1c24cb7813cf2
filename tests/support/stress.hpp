// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace weft_test {

/// How long each stress test goes on: WEFT_SOAK seconds (scripts/test --soak), else `otherwise`.
inline std::chrono::milliseconds stress_time(std::chrono::milliseconds otherwise) {
  const char* const seconds = std::getenv("WEFT_SOAK");
  return seconds ? std::chrono::seconds(std::strtoul(seconds, nullptr, 10)) : otherwise;
}

/// Where a stress test's random choices begin: WEFT_SEED, else anywhere. It is printed, so that a
/// failure can be tried again.
inline std::uint64_t stress_seed() {
  const char* const given = std::getenv("WEFT_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "  WEFT_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace weft_test
