// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "harness/run.hpp"

// How long it takes a parked loop to run what another thread posts: from before the post until the
// handler runs. The poster pauses before each post, so that the loop has parked, and then waits
// without sleeping, on another processor if there is one. `Loop` has run(), stop(), and wake(),
// which gets arrived() called on the loop's thread.
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
  bool with_io;

  parameters(int argc, char** argv)
      : posts(bench::option(argc, argv, "--posts", 10'000)),
        pause(bench::option(argc, argv, "--pause-us", 100)),
        with_io(bench::option(argc, argv, "--io", 1) != 0) {}
};

/// Binds a thread to one of the processors that it may use, or leaves it where there are fewer:
/// which of them the kernel chooses makes more of a difference than what is measured.
inline void bind(pthread_t thread, int which) {
  cpu_set_t allowed;
  pthread_getaffinity_np(thread, sizeof allowed, &allowed);
  for (int cpu = 0; cpu != CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || which-- != 0)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(thread, sizeof one, &one);
    return;
  }
}

template <class Loop>
bench::result run(Loop& loop, stopwatch& watch, const parameters& p) {
  std::thread running([&] { loop.run(); });
  bind(running.native_handle(), 0);
  bind(pthread_self(), 1);
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
