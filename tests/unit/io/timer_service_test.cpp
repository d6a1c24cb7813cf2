// SPDX-License-Identifier: BSL-1.0
#include "io/timer_service.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/io/wait_traits.hpp>

#include "support/manual_clock.hpp"

namespace {

using weft::detail::never;
using weft::detail::operation;
using weft::detail::operation_queue;
using weft::detail::timer_service;
using weft::detail::timer_state;
using weft::detail::use_scheduler;
using weft::detail::wait_operation;

using steady = std::chrono::steady_clock;
using system = std::chrono::system_clock;
using steady_access = weft::detail::timer_clock_of<steady, weft::wait_traits<steady>>;
using system_access = weft::detail::timer_clock_of<system, weft::wait_traits<system>>;

/// A wait that notes its number when it completes, negated if it was cancelled.
class noted_wait final : public wait_operation {
 public:
  noted_wait(const timer_state& timer, std::vector<int>& notes, int& alive, int number)
      : wait_operation(&complete, timer), notes_(&notes), alive_(&alive), number_(number) {
    ++alive;
  }
  ~noted_wait() { --*alive_; }

 private:
  static void complete(operation* base, action what) {
    const std::unique_ptr<noted_wait> self(static_cast<noted_wait*>(base));
    if (what == action::invoke)
      self->notes_->push_back(self->take_results().first ? -self->number_ : self->number_);
  }

  std::vector<int>* notes_;
  int* alive_;
  int number_;
};

class timer_service_test : public ::testing::Test {
 protected:
  timer_service_test() {
    service.emplace(
        use_scheduler(context), [](void* count) { ++*static_cast<int*>(count); }, &wakes);
  }

  timer_state steady_timer(std::int64_t expires_in) {
    timer_state timer(*service, steady_access::value);
    timer.expires_at(steady_access::now() + expires_in);
    return timer;
  }

  noted_wait* start(timer_state& timer, int number) {
    auto* op = new noted_wait(timer, notes, alive, number);
    timer.start(op);
    return op;
  }

  void queue_due_waits() {
    operation_queue ready;
    service->collect(ready);
    weft::detail::scheduler_complete(use_scheduler(context), ready);
  }

  std::vector<int> run() {
    queue_due_waits();
    context.restart();
    context.poll();
    return std::exchange(notes, {});
  }

  using numbers = std::vector<int>;

  weft_test::manual_time time;
  weft::io_context context;
  int wakes = 0;
  int alive = 0;
  std::vector<int> notes;
  std::optional<timer_service> service;
};

TEST_F(timer_service_test, without_waits_the_poller_may_sleep_for_ever) {
  EXPECT_TRUE(service->empty());
  EXPECT_EQ(service->prepare_wait(), never);
}

TEST_F(timer_service_test, the_poller_may_sleep_until_the_earliest_wait_of_all_clocks_is_due) {
  timer_state late = steady_timer(900);
  timer_state early(*service, system_access::value);
  early.expires_at(system_access::now() + 300);
  start(late, 1);
  start(early, 2);
  EXPECT_FALSE(service->empty());
  EXPECT_EQ(service->prepare_wait(), 300);
  time.advance(std::chrono::nanoseconds(300));
  EXPECT_EQ(service->prepare_wait(), 0);
  EXPECT_EQ(run(), numbers{2});
  EXPECT_EQ(service->prepare_wait(), 600);
  EXPECT_EQ(late.cancel(), 1u);
  EXPECT_EQ(service->prepare_wait(), never);
  run();
}

TEST_F(timer_service_test, arming_wakes_the_poller_only_if_it_sleeps_for_longer) {
  timer_state first = steady_timer(500), later = steady_timer(501), earlier = steady_timer(499);
  start(first, 1);
  EXPECT_EQ(wakes, 0);  // nobody sleeps
  service->prepare_wait();
  start(later, 2);
  EXPECT_EQ(wakes, 0);
  start(earlier, 3);
  EXPECT_EQ(wakes, 1);
  timer_state earliest = steady_timer(1);
  start(earliest, 4);
  EXPECT_EQ(wakes, 1);  // it has been woken already
  service->finish_wait();
  timer_state now = steady_timer(0);
  start(now, 5);
  EXPECT_EQ(wakes, 1);
  first.cancel(), later.cancel(), earlier.cancel(), earliest.cancel(), now.cancel();
  run();
}

TEST_F(timer_service_test, the_first_wait_of_all_wakes_a_poller_that_sleeps_for_ever) {
  service->prepare_wait();
  timer_state timer = steady_timer(1'000'000);
  start(timer, 1);
  EXPECT_EQ(wakes, 1);
  timer.cancel();
  run();
}

TEST_F(timer_service_test, a_wait_that_is_due_already_is_queued_without_waking_the_poller) {
  service->prepare_wait();
  timer_state timer = steady_timer(0);
  start(timer, 1);
  EXPECT_EQ(wakes, 0);
  EXPECT_TRUE(service->empty());
  context.poll();
  EXPECT_EQ(notes, numbers{1});
}

TEST_F(timer_service_test, waits_complete_by_expiry_and_then_by_start) {
  timer_state a = steady_timer(200), b = steady_timer(100), c = steady_timer(200);
  start(a, 1), start(c, 2), start(b, 3), start(a, 4), start(c, 5);
  time.advance(std::chrono::nanoseconds(200));
  EXPECT_EQ(run(), (numbers{3, 1, 2, 4, 5}));
}

TEST_F(timer_service_test, cancel_reaches_a_wait_that_is_queued) {
  timer_state timer = steady_timer(1);
  start(timer, 1);
  start(timer, 2);
  time.advance(std::chrono::nanoseconds(1));
  queue_due_waits();
  EXPECT_EQ(timer.cancel_one(), 1u);
  EXPECT_EQ(timer.expires_at(0), 1u);
  EXPECT_EQ(timer.cancel(), 0u);
  EXPECT_EQ(run(), (numbers{-1, -2}));
}

TEST_F(timer_service_test, a_wait_cancelled_before_its_start_is_cancelled) {
  timer_state timer = steady_timer(1);
  auto* op = new noted_wait(timer, notes, alive, 1);
  op->cancel();
  timer.start(op);
  EXPECT_TRUE(service->empty());
  EXPECT_EQ(timer.cancel(), 0u);
  EXPECT_EQ(run(), numbers{-1});
}

TEST_F(timer_service_test, a_wait_never_started_is_destroyed_alone) {
  timer_state timer = steady_timer(1);
  auto* op = new noted_wait(timer, notes, alive, 1);
  static_cast<operation*>(op)->destroy();
  EXPECT_EQ(alive, 0);
}

TEST_F(timer_service_test, shutdown_hands_out_what_is_pending_and_destroys_what_comes_later) {
  timer_state timer = steady_timer(5), due = steady_timer(0);
  start(timer, 1), start(timer, 2), start(due, 3);
  queue_due_waits();
  {
    operation_queue ended;
    service->shutdown(ended);
    EXPECT_EQ(alive, 3);
  }
  EXPECT_EQ(alive, 1);
  start(timer, 4);
  EXPECT_EQ(alive, 1);
  EXPECT_EQ(timer.cancel(), 0u);
  EXPECT_EQ(run(), numbers{3});
}

TEST_F(timer_service_test, timers_and_queued_waits_may_outlive_the_service) {
  timer_state timer = steady_timer(0), cancelled = steady_timer(0);
  start(timer, 1), start(cancelled, 2);
  queue_due_waits();
  {
    operation_queue ended;
    service->shutdown(ended);
  }
  service.reset();
  EXPECT_EQ(cancelled.cancel(), 1u);
  context.poll();
  EXPECT_EQ(notes, (numbers{1, -2}));
  timer_state moved(std::move(timer));
}

TEST_F(timer_service_test, an_assigned_timer_keeps_the_waits_of_the_other_service) {
  timer_service other(use_scheduler(context), [](void*) {}, nullptr);
  timer_state here = steady_timer(5), there(other, steady_access::value);
  there.expires_at(steady_access::now() + 7);
  start(here, 1), start(there, 2);
  here = std::move(there);
  EXPECT_EQ(run(), numbers{-1});
  EXPECT_EQ(other.prepare_wait(), 7);
  EXPECT_EQ(here.cancel(), 1u);
  EXPECT_EQ(run(), numbers{-2});
}

TEST_F(timer_service_test, any_mix_of_arming_and_cancelling_completes_each_wait_once_and_in_order) {
  constexpr int timers_count = 500;
  std::mt19937 random(20261120);
  std::vector<timer_state> timers;
  for (int i = 0; i != timers_count; ++i)
    timers.push_back(steady_timer(0));
  struct expected {
    std::int64_t expiry;
    int seen = 0;
  };
  std::vector<expected> waits(1, expected{0});
  std::vector<std::int64_t> expiry(timers_count, steady_access::now());
  int count = 0;
  const auto check = [&](const numbers& completed) {
    std::int64_t last = 0;
    for (const int number : completed) {
      ++count;
      expected& wait = waits[static_cast<std::size_t>(std::abs(number))];
      EXPECT_EQ(++wait.seen, 1);
      if (number > 0) {
        EXPECT_LE(last, wait.expiry);
        EXPECT_LE(wait.expiry, steady_access::now());
        last = wait.expiry;
      }
    }
  };
  for (int round = 0; round != 30'000; ++round) {
    const std::size_t i = random() % timers_count;
    switch (random() % 4) {
      case 0:
        expiry[i] = steady_access::now() + static_cast<std::int64_t>(random() % 1000);
        timers[i].expires_at(expiry[i]);
        break;
      case 1:
        start(timers[i], static_cast<int>(waits.size()));
        waits.push_back({expiry[i]});
        break;
      case 2: timers[i].cancel_one(); break;
      case 3:
        check(run());  // what was cancelled or due
        time.advance(std::chrono::nanoseconds(random() % 20));
        check(run());
        break;
    }
  }
  time.advance(std::chrono::nanoseconds(1000));
  check(run());
  EXPECT_EQ(count, static_cast<int>(waits.size()) - 1);
  EXPECT_EQ(alive, 0);
  EXPECT_TRUE(service->empty());
}

}  // namespace
