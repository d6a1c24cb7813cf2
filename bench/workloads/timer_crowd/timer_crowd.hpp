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

// A crowd of pending timers on one thread, all that it does to them in a handler, as a server does:
// all are armed, armed again and cancelled, in the order in which they were made, or each time in
// another (`--shuffled 1`: then what is measured is mostly how far memory is); of these that are
// pending, a few are armed again and again; then all expire together, and once more beside a
// handler that posts itself over and over and notes how long it had to wait. `delay_us` is the
// longest such time.
namespace timer_crowd {

using clock = std::chrono::steady_clock;

struct parameters {
  std::uint64_t timers;
  std::uint64_t busy;  // those armed again and again
  std::uint64_t sweeps;
  std::chrono::milliseconds ahead;
  bool shuffled;

  parameters(int argc, char** argv)
      : timers(bench::option(argc, argv, "--timers", 1'000'000)),
        busy(std::min(timers, bench::option(argc, argv, "--busy", 1'000))),
        sweeps(bench::option(argc, argv, "--sweeps", 1'000)),
        ahead(bench::option(argc, argv, "--ahead-ms", 4'000)),
        shuffled(bench::option(argc, argv, "--shuffled", 1) != 0) {}
};

template <class Net>
class crowd {
 public:
  using order = std::vector<std::size_t>;

  crowd(typename Net::io_context& context, const parameters& p) : all_(p.timers), p_(p) {
    for (std::uint64_t i = 0; i != p.timers; ++i)
      timers_.emplace_back(context);
    std::iota(all_.begin(), all_.end(), std::size_t{0});
    busy_ = all_;
    std::shuffle(busy_.begin(), busy_.end(), random_);
    busy_.resize(p.busy);
  }

  void shuffle() {
    if (p_.shuffled)
      std::shuffle(all_.begin(), all_.end(), random_);
  }
  const order& all() const { return all_; }
  const order& busy() const { return busy_; }

  /// Each timer gets an expiry of its own in the millisecond before `last`.
  void arm(const order& which, clock::time_point last) {
    for (const std::size_t i : which) {
      timers_[i].expires_at(last - std::chrono::nanoseconds(i * 1'000'000 / all_.size()));
      timers_[i].async_wait([this](typename Net::error_code ec) {
        ++called;
        if (ec)
          ++aborted;
      });
    }
  }
  void cancel() {
    for (const std::size_t i : all_)
      timers_[i].cancel();
  }

  std::uint64_t called = 0;
  std::uint64_t aborted = 0;

 private:
  std::vector<typename Net::steady_timer> timers_;
  order all_;
  order busy_;
  const parameters p_;
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
bench::result run(const parameters& p) {
  const auto context = Net::make_context(1);
  const auto executor = context->get_executor();
  crowd<Net> crowd(*context, p);
  bench::phases phases;

  // In a handler; then those of what it has aborted, which do not count. Until these are called
  // there are two waits for each timer that is armed anew: the first time it takes more memory.
  const auto in_handler = [&](auto what) {
    post(executor, [&] {
      crowd.shuffle();
      phases.skip();
      what();
    });
    context->restart();
    context->poll();
  };
  const clock::time_point far = clock::now() + std::chrono::hours(1);
  const auto arm = [&](const char* phase) {
    in_handler([&] {
      crowd.arm(crowd.all(), far - std::chrono::minutes(phases.count()));
      phases.end(phase, p.timers);
    });
  };
  arm("first_ns");
  arm("memory_ns");
  in_handler([&] {
    crowd.cancel();
    phases.end("cancel_ns", p.timers);
  });
  phases.end("abort_ns", p.timers);
  arm("arm_ns");
  arm("rearm_ns");

  std::uint64_t left = p.sweeps;
  const auto sweep = [&](auto& self) -> void {
    crowd.arm(crowd.busy(), far - std::chrono::seconds(left));
    if (--left != 0)
      post(executor, [&] { self(self); });
  };
  in_handler([&] { sweep(sweep); });
  phases.end("busy_ns", p.sweeps * p.busy);

  const auto expire = [&] {
    clock::time_point last;
    in_handler([&] {
      last = clock::now() + p.ahead;
      crowd.arm(crowd.all(), last);
    });
    std::this_thread::sleep_until(last);
    context->restart();
  };
  expire();
  phases.skip();
  context->run();
  phases.end("expire_ns", p.timers);

  expire();
  bystander<Net> other{executor, crowd, crowd.called + p.timers};
  post(executor, [&] { other.run(); });
  context->run();

  auto figures = phases.figures();
  figures.push_back({"delay_us", std::chrono::duration<double, std::micro>(other.longest).count()});
  return {.operations = crowd.called, .checksum = crowd.aborted, .figures = figures};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("timer_crowd", name, Net::version() + ", io_context{1}",
                        [&] { return run<Net>(p); });
}

}  // namespace timer_crowd
