// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "harness/models.hpp"

// Timers that are pending get another expiry and are waited for again, as a server does whose
// connections have time-outs: one thread, and in a handler. Counted are the waits so aborted, whose
// handlers run between two sweeps over all timers. The expiries are those of a table, at `--after
// 0` as points in time, at `--after 1` from when they are set.
namespace timer {

struct parameters {
  std::uint64_t timers;
  std::uint64_t sweeps;
  bool after;

  parameters(int argc, char** argv)
      : timers(bench::option(argc, argv, "--timers", 1'000)),
        sweeps(bench::option(argc, argv, "--waits", 2'000'000) / timers),
        after(bench::option(argc, argv, "--after", 0) != 0) {}
};

template <class Net>
class sweeper {
  using clock = std::chrono::steady_clock;

 public:
  sweeper(typename Net::io_context& context, const parameters& p)
      : executor_(context.get_executor()), left_(p.sweeps), after_(p.after) {
    for (std::uint64_t i = 0; i != p.timers; ++i)
      timers_.emplace_back(executor_);
    std::mt19937_64 random(1);
    const clock::time_point now = clock::now();
    for (std::size_t i = 0; i != expiries_in_table; ++i) {
      durations_.push_back(std::chrono::minutes(10) +
                           std::chrono::microseconds(random() % 60'000'000));
      times_.push_back(now + durations_.back());
    }
  }

  void sweep() {
    for (auto& timer : timers_) {
      next_ = (next_ + 1) % expiries_in_table;
      if (after_)
        timer.expires_after(durations_[next_]);
      else
        timer.expires_at(times_[next_]);
      timer.async_wait([this](typename Net::error_code ec) { aborted_ += ec ? 1 : 0; });
    }
    if (--left_ != 0) {
      post(executor_, [this] { sweep(); });
      return;
    }
    for (auto& timer : timers_)
      timer.cancel();
  }

  std::uint64_t aborted() const { return aborted_; }

 private:
  static constexpr std::size_t expiries_in_table = 65'521;  // a prime: each timer gets all of them

  typename Net::io_context::executor_type executor_;
  std::vector<typename Net::steady_timer> timers_;
  std::vector<clock::duration> durations_;
  std::vector<clock::time_point> times_;
  std::size_t next_ = 0;
  std::uint64_t left_;
  std::uint64_t aborted_ = 0;
  bool after_;
};

template <class Net>
int main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("timer", name, Net::version() + ", io_context{1}", [&] {
    const auto context = Net::make_context(1);
    sweeper<Net> all(*context, p);
    post(*context, [&] { all.sweep(); });
    context->run();
    return bench::result{.operations = all.aborted()};
  });
}

}  // namespace timer
