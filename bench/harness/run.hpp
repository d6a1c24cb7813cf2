// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace bench {

/// A number measured beside the time of the whole run, a part of it for instance. Its name ends in
/// its unit: `queue_ns`.
struct figure {
  std::string_view name;
  double value;
};

/// What one run of one implementation has done. Implementations of a workload must agree on
/// `operations` and `checksum`, or they did different work.
struct result {
  std::uint64_t operations = 0;
  std::uint64_t checksum = 0;
  std::vector<figure> figures = {};
};

/// `--NAME VALUE` of the command line, or `otherwise`. Ends the program on a malformed number.
std::uint64_t option(int argc, char** argv, std::string_view name, std::uint64_t otherwise);

/// Prints one line of JSON: what ran, its result, wall-clock and processor seconds, nanoseconds per
/// operation, the figures, and `note` (a version, a setting).
void report(std::string_view workload, std::string_view implementation, std::string_view note,
            const result& r, std::chrono::nanoseconds wall, std::chrono::nanoseconds cpu);

/// What a program ends with that cannot run here, because the kernel lacks or denies what it needs.
inline constexpr int absent = 77;

/// What is thrown where the kernel lacks or denies what an implementation needs; names that.
class kernel_lacks : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// Runs `f` (which returns a result) once, and reports it. Returns what main is to return: `absent`
/// if `f` throws kernel_lacks.
template <class F>
int measure(std::string_view workload, std::string_view implementation, std::string_view note, F f);

/// User and system time of this process so far.
std::chrono::nanoseconds cpu_time();

template <class F>
int measure(std::string_view workload, std::string_view implementation, std::string_view note,
            F f) {
  const auto cpu = cpu_time();
  const auto start = std::chrono::steady_clock::now();
  try {
    const result r = f();
    const auto wall = std::chrono::steady_clock::now() - start;
    report(workload, implementation, note, r, wall, cpu_time() - cpu);
    return 0;
  } catch (const kernel_lacks& e) {
    std::fprintf(stderr, "the kernel lacks or denies %s\n", e.what());
    return absent;
  }
}

}  // namespace bench
