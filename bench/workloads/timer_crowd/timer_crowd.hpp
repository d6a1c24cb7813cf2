// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "harness/models.hpp"
#include "harness/phases.hpp"

// A crowd of pending timers on one thread: all are armed, cancelled and armed again, each time in
// another order; then they expire together, and once more beside a handler that posts itself over
// and over and notes how long it had to wait. `delay_us` is the longest such time.
namespace timer_crowd {

using clock = std::chrono::steady_clock;

template <class Net>
class crowd {
 public:
  crowd(typename Net::io_context& context, std::uint64_t timers) : order_(timers) {
    for (std::uint64_t i = 0; i != timers; ++i)
      timers_.emplace_back(context);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  void shuffle() { std::shuffle(order_.begin(), order_.end(), random_); }

  /// Each timer gets an expiry of its own in the millisecond before `last`.
  void arm(clock::time_point last) {
    for (const std::size_t i : order_) {
      timers_[i].expires_at(last - std::chrono::nanoseconds(i * 1'000'000 / order_.size()));
      timers_[i].async_wait([this](typename Net::error_code ec) {
        ++called;
        if (ec)
          ++aborted;
      });
    }
  }
  void cancel() {
    for (const std::size_t i : order_)
      timers_[i].cancel();
  }

  std::uint64_t called = 0;
  std::uint64_t aborted = 0;

 private:
  std::vector<typename Net::steady_timer> timers_;
  std::vector<std::size_t> order_;
  std::mt19937_64 random_{1};
};

/// A handler that posts itself until all of the crowd have been called.
template <class Net>
struct bystander {
  typename Net::io_context::executor_type executor;
  const crowd<Net>& beside;
  std::uint64_t until;
  clock::time_point last = clock::now();
  clock::duration longest{};

  void run() {
    const clock::time_point now = clock::now();
    longest = std::max(longest, now - last);
    last = now;
    if (beside.called != until)
      post(executor, [this] { run(); });
  }
};

template <class Net>
bench::result run(std::uint64_t timers, std::chrono::milliseconds ahead) {
  const auto context = Net::make_context(1);
  crowd<Net> all(*context, timers);
  bench::phases phases;
  const auto expire = [&] {
    all.shuffle();
    const clock::time_point last = clock::now() + ahead;
    all.arm(last);
    std::this_thread::sleep_until(last);
    context->restart();
  };

  all.shuffle();
  phases.skip();
  all.arm(clock::now() + std::chrono::hours(1));
  phases.end("arm_ns", timers);
  all.shuffle();
  phases.skip();
  all.cancel();
  phases.end("cancel_ns", timers);
  context->run();
  phases.end("abort_ns", timers);

  expire();
  phases.skip();
  context->run();
  phases.end("expire_ns", timers);

  expire();
  bystander<Net> other{context->get_executor(), all, 3 * timers};
  post(*context, [&] { other.run(); });
  context->run();

  auto figures = phases.figures();
  figures.push_back({"delay_us", std::chrono::duration<double, std::micro>(other.longest).count()});
  return {.operations = all.called, .checksum = all.aborted, .figures = figures};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const std::uint64_t timers = bench::option(argc, argv, "--timers", 1'000'000);
  const std::chrono::milliseconds ahead(bench::option(argc, argv, "--ahead-ms", 3'000));
  return bench::measure("timer_crowd", name, Net::version() + ", io_context{1}",
                        [&] { return run<Net>(timers, ahead); });
}

}  // namespace timer_crowd
