// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "harness/run.hpp"

// How long it takes a parked loop to run what another thread posts: from before the post until the
// handler runs. The poster pauses before each post, so that the loop has parked, and then waits
// without sleeping. `Loop` has run(), stop(), and wake(), which gets arrived() called on
// the loop's thread.
namespace wakeup {

using clock = std::chrono::steady_clock;

class stopwatch {
 public:
  explicit stopwatch(std::uint64_t posts) { delays_.reserve(posts); }

  void posted() {
    pending_.store(true, std::memory_order_relaxed);
    start_ = clock::now();
  }
  void arrived() {
    delays_.push_back(clock::now() - start_);
    pending_.store(false, std::memory_order_release);
  }
  void await() const {
    while (pending_.load(std::memory_order_acquire)) {}
  }

  bench::result result() {
    std::sort(delays_.begin(), delays_.end());
    const auto at = [&](double part) {
      const auto place = static_cast<std::size_t>(part * double(delays_.size() - 1));
      return std::chrono::duration<double, std::nano>(delays_[place]).count();
    };
    return {.operations = delays_.size(), .figures = {{"p50_ns", at(0.5)}, {"p99_ns", at(0.99)}}};
  }

 private:
  std::atomic<bool> pending_ = false;
  clock::time_point start_;
  std::vector<clock::duration> delays_;
};

struct parameters {
  std::uint64_t posts;
  std::chrono::microseconds pause;

  parameters(int argc, char** argv)
      : posts(bench::option(argc, argv, "--posts", 10'000)),
        pause(bench::option(argc, argv, "--pause-us", 100)) {}
};

template <class Loop>
bench::result run(Loop& loop, stopwatch& watch, const parameters& p) {
  std::thread running([&] { loop.run(); });
  for (std::uint64_t i = 0; i != p.posts; ++i) {
    std::this_thread::sleep_for(p.pause);
    watch.posted();
    loop.wake();
    watch.await();
  }
  loop.stop();
  running.join();
  return watch.result();
}

}  // namespace wakeup
