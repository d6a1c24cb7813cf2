// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "harness/run.hpp"

namespace bench {

/// Times the phases of a run, one after the other.
class phases {
 public:
  using clock = std::chrono::steady_clock;

  /// The phase since the last one, or since the start, is over: so many operations.
  void end(std::string_view name, std::uint64_t operations) {
    const clock::time_point at = clock::now();
    done_.push_back(
        {name, std::chrono::duration<double, std::nano>(at - start_).count() / double(operations)});
    start_ = clock::now();
  }
  /// What has been done since the last phase does not count.
  void skip() { start_ = clock::now(); }

  std::size_t count() const { return done_.size(); }

  /// The phases as figures, nanoseconds per operation, and under `sum` their sum if it has a name.
  std::vector<figure> figures(std::string_view sum = {}) const {
    std::vector<figure> all = done_;
    if (!sum.empty())
      all.push_back({sum, std::accumulate(done_.begin(), done_.end(), 0.0,
                                          [](double a, const figure& f) { return a + f.value; })});
    return all;
  }

 private:
  clock::time_point start_ = clock::now();
  std::vector<figure> done_;
};

}  // namespace bench
