// SPDX-License-Identifier: BSL-1.0
#include <cstdint>
#include <mutex>

#include "harness/run.hpp"

// The standard library's mutex, free: what a lock that can only block costs.
int main(int argc, char** argv) {
  const std::uint64_t count = bench::option(argc, argv, "--count", 1'000'000);
  return bench::measure("sync", "std", "std::mutex", [&] {
    std::mutex mutex;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i != count; ++i)
      if (mutex.try_lock()) {
        ++sum;
        mutex.unlock();
      }
    return bench::result{.operations = count, .checksum = sum};
  });
}
