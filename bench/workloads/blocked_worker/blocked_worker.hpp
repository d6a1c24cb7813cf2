// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include "harness/models.hpp"

// What waits behind a handler that blocks, with two threads in run(): it posts some handlers, arms
// a timer for a millisecond later, and sleeps. Reported are the longest that a handler has waited
// since it was posted, and a timer since it was due.
namespace blocked_worker {

using clock = std::chrono::steady_clock;

struct parameters {
  std::uint64_t rounds;
  std::chrono::milliseconds blocks;

  parameters(int argc, char** argv)
      : rounds(bench::option(argc, argv, "--rounds", 50)),
        blocks(bench::option(argc, argv, "--blocks-ms", 20)) {}
};

/// The longest of several durations.
class longest {
 public:
  void add(clock::duration d) {
    auto known = value_.load(std::memory_order_relaxed);
    while (known < d.count() && !value_.compare_exchange_weak(known, d.count())) {}
  }
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(clock::duration(value_)).count();
  }

 private:
  std::atomic<clock::rep> value_{0};
};

template <class Net>
class rounds {
  static constexpr int posts = 64;

 public:
  rounds(typename Net::io_context& c, const parameters& p)
      : context_(c), timer_(c), left_(p.rounds), blocks_(p.blocks) {}

  void begin() {
    missing_ = posts + 2;
    post(context_, [this] { block(); });
  }

  std::uint64_t handlers() const { return handlers_; }
  const longest& posted() const { return posted_; }
  const longest& due() const { return due_; }

 private:
  void block() {
    const auto now = clock::now();
    for (int i = 0; i != posts; ++i)
      post(context_, [this, now] {
        posted_.add(clock::now() - now);
        end_one();
      });
    const auto due = now + std::chrono::milliseconds(1);
    timer_.expires_at(due);
    timer_.async_wait([this, due](typename Net::error_code) {
      due_.add(clock::now() - due);
      end_one();
    });
    std::this_thread::sleep_for(blocks_);
    end_one();
  }

  void end_one() {
    ++handlers_;
    if (--missing_ == 0 && --left_ != 0)
      begin();
  }

  typename Net::io_context& context_;
  typename Net::steady_timer timer_;
  std::uint64_t left_;
  const std::chrono::milliseconds blocks_;
  std::atomic<int> missing_{0};
  std::atomic<std::uint64_t> handlers_{0};
  longest posted_, due_;
};

template <class Net>
bench::result run(const parameters& p) {
  const auto context = Net::make_context(2);
  rounds<Net> all(*context, p);
  all.begin();
  std::thread other([&] { context->run(); });
  context->run();
  other.join();
  return {.operations = all.handlers(),
          .figures = {{"posted_ms", all.posted().milliseconds()},
                      {"due_ms", all.due().milliseconds()}}};
}

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("blocked_worker", name, Net::version(), [&] { return run<Net>(p); });
}

}  // namespace blocked_worker
