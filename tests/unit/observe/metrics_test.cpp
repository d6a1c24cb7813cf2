// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>
#include <vector>
#include <weft.hpp>

#include "support/backend.hpp"

namespace {

using namespace std::chrono_literals;
using weft::observe::metrics;

/// Posts itself until it has run `left` times more.
struct chain {
  weft::io_context& context;
  int left;

  void operator()() {
    if (left-- != 0)
      weft::post(context, *this);
  }
};

TEST(metrics, handlers_are_counted_by_who_queued_them) {
  weft::io_context context{1};
  weft::post(context, chain{context, 10});
  weft::post(context, [] {});
  context.run();
  const metrics now(context);
  EXPECT_EQ(now.total.run, 12u);
  EXPECT_EQ(now.total.queued, 10u);
  EXPECT_EQ(now.total.from_outside, 2u);
  EXPECT_EQ(now.waiting, 0u);
  EXPECT_TRUE(now.workers.empty());
}

TEST(metrics, what_threads_that_left_have_done_stays_in_the_total) {
  weft::io_context context;
  for (int i = 0; i != 3; ++i) {
    weft::post(context, [] {});
    context.restart();
    std::thread([&] { context.run_one(); }).join();
  }
  EXPECT_EQ(metrics(context).total.run, 3u);
}

TEST(metrics, a_handler_sees_its_own_worker) {
  weft::io_context context;
  weft::post(context, [&] {
    for (int i = 0; i != 5; ++i)
      weft::post(context, [] {});
    const metrics now(context);
    ASSERT_EQ(now.workers.size(), 1u);
    EXPECT_EQ(now.workers[0].thread, std::this_thread::get_id());
    EXPECT_FALSE(now.workers[0].is_asleep);
    EXPECT_EQ(now.workers[0].done.run, 1u);
    EXPECT_EQ(now.waiting, 5u);
  });
  context.run();
}

TEST(metrics, a_worker_with_nothing_to_do_is_asleep_until_it_is_woken) {
  weft::io_context context;
  const auto guard = weft::make_work_guard(context);
  std::thread thread([&] { context.run(); });
  const auto asleep = [&] {
    const metrics now(context);
    return now.workers.size() == 1 && now.workers[0].is_asleep;
  };
  while (!asleep())
    std::this_thread::yield();
  const auto before = metrics(context).total;
  std::latch run(1);
  weft::post(context, [&] { run.count_down(); });
  run.wait();
  while (!asleep())
    std::this_thread::yield();
  const auto between = metrics(context).total - before;
  EXPECT_EQ(between.run, 1u);
  EXPECT_EQ(between.wakeups, 1u);
  EXPECT_EQ(between.parks, 1u);
  context.stop();
  thread.join();
}

TEST(metrics, what_is_taken_from_a_blocked_worker_is_stolen) {
  weft::io_context context;
  std::latch others(4);
  weft::post(context, [&] {
    for (int i = 0; i != 4; ++i)
      weft::post(context, [&] { others.count_down(); });
    others.wait();
  });
  std::thread second([&] { context.run(); });
  context.run();
  second.join();
  const metrics now(context);
  EXPECT_EQ(now.total.run, 5u);
  EXPECT_GE(now.total.steals, 1u);
  EXPECT_GE(now.total.steal_attempts, 1u);
  EXPECT_GE(now.total.stolen, now.total.steals);
}

TEST(metrics, a_snapshot_may_be_taken_while_threads_come_run_and_go) {
  weft::io_context context;
  std::atomic<bool> done{false};
  std::thread looker([&] {
    std::uint64_t run = 0;
    while (!done) {
      const std::uint64_t now = metrics(context).total.run;
      EXPECT_GE(now, run);
      run = now;
      weft::observe::measure(context, now % 2 == 0);
    }
  });
  for (int round = 0; round != 20; ++round) {
    for (int i = 0; i != 20; ++i)
      weft::post(context, chain{context, 50});
    context.restart();
    std::thread second([&] { context.run(); });
    context.run();
    second.join();
  }
  done = true;
  looker.join();
  EXPECT_EQ(metrics(context).total.run, 20u * 20 * 51);
}

TEST(metrics, the_first_handler_of_a_thread_is_no_likelier_to_be_measured) {
  weft::io_context context({.measure = true});
  for (int i = 0; i != 2000; ++i)
    std::thread([&] {
      weft::post(context, [] {});
      context.restart();
      context.run();
    }).join();
  const metrics now(context);
  EXPECT_EQ(now.total.run, 2000u);
  // One in 127 on the average.
  EXPECT_GE(now.run_time.count(), 3u);
  EXPECT_LE(now.run_time.count(), 100u);
  EXPECT_GE(now.queue_delay.count(), 3u);
  EXPECT_LE(now.queue_delay.count(), 100u);
}

TEST(metrics, other_contexts_have_them_too) {
  weft::thread_pool pool(2);
  for (int i = 0; i != 10; ++i)
    weft::post(pool, [] {});
  pool.join();
  EXPECT_EQ(metrics(pool).total.run, 10u);
}

// ---- pending operations

class metrics_on : public ::testing::TestWithParam<weft::backend_kind> {};

TEST_P(metrics_on, pending_operations_are_counted_by_what_they_wait_for) {
  weft::io_context context(weft_test::make_context_options(GetParam()));
  using weft::ip::tcp;
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  weft::local::stream_protocol::socket near(context), far(context);
  weft::local::connect_pair(near, far);
  weft::steady_timer timer(context, 1h);
  char data[2];
  const auto ignore = [](auto&&...) {};

  EXPECT_EQ(metrics(context).backend, GetParam());
  EXPECT_EQ(metrics(context).pending.total(), 0u);
  near.async_read_some(weft::buffer(data, 1), ignore);
  near.async_read_some(weft::buffer(data + 1, 1), ignore);
  far.async_wait(weft::socket_base::wait_read, ignore);
  acceptor.async_accept(ignore);
  timer.async_wait(ignore);
  context.poll();
  const auto pending = metrics(context).pending;
  EXPECT_EQ(pending.reads, 2u);
  EXPECT_EQ(pending.readiness, 1u);
  EXPECT_EQ(pending.accepts, 1u);
  EXPECT_EQ(pending.timers, 1u);
  EXPECT_EQ(pending.total(), 5u);

  weft::write(far, weft::buffer("x", 1));
  while (context.run_one() == 0) {}
  EXPECT_EQ(metrics(context).pending.reads, 1u);
  EXPECT_GE(metrics(context).total.events, 1u);
  EXPECT_GE(metrics(context).total.polls, 1u);

  near.cancel();
  far.cancel();
  acceptor.cancel();
  timer.cancel();
  context.run();
  EXPECT_EQ(metrics(context).pending.total(), 0u);
  EXPECT_EQ(metrics(context).waiting, 0u);
}

INSTANTIATE_TEST_SUITE_P(backends, metrics_on, ::testing::ValuesIn(weft_test::backends()),
                         weft_test::backend_name);

// ---- times

std::atomic<std::int64_t> time_now{0};

/// Time passes only where a handler says so.
class metrics_of_time : public ::testing::Test {
 protected:
  ~metrics_of_time() override { weft::detail::set_time_source(before_); }

  static void spend(std::chrono::nanoseconds time) { time_now += time.count(); }

 private:
  static std::int64_t now() noexcept { return time_now; }
  static void sleep(std::int64_t time) noexcept { time_now += time; }

  static constexpr weft::detail::time_source source_{&now, &now, &sleep};
  const weft::detail::time_source& before_ = weft::detail::set_time_source(source_);
};

/// Spends 1 ms, and queues the next meanwhile: that has 0.5 ms to wait.
struct spender {
  weft::io_context& context;
  int left;

  void operator()() {
    time_now += 500'000;
    if (left-- != 0)
      weft::post(context, *this);
    time_now += 500'000;
  }
};

TEST_F(metrics_of_time, nothing_is_measured_unless_asked_for) {
  weft::io_context context;
  weft::post(context, spender{context, 1000});
  context.run();
  const metrics now(context);
  EXPECT_FALSE(now.measures);
  EXPECT_EQ(now.run_time.count(), 0u);
  EXPECT_EQ(now.queue_delay.count(), 0u);
}

TEST_F(metrics_of_time, a_sample_of_the_handlers_is_measured) {
  weft::io_context context({.measure = true});
  weft::post(context, spender{context, 6399});
  context.run();
  const metrics now(context);
  EXPECT_TRUE(now.measures);
  EXPECT_EQ(now.run_time.mean(), 1ms);
  EXPECT_EQ(now.run_time.max(), 1ms);
  EXPECT_EQ(now.queue_delay.p50(), 500us);
  // About 100, at distances from 1 to 127.
  EXPECT_GE(now.run_time.count(), 6400u / 127);
  EXPECT_LE(now.run_time.count(), 300u);
  EXPECT_GE(now.queue_delay.count(), 6400u / 127);
}

TEST_F(metrics_of_time, what_is_switched_off_measures_no_more) {
  weft::io_context context({.measure = true});
  weft::post(context, spender{context, 1000});
  context.run();
  weft::observe::measure(context, false);
  const metrics before(context);
  EXPECT_FALSE(before.measures);
  weft::post(context, spender{context, 1000});
  context.restart();
  context.run();
  EXPECT_EQ(metrics(context).run_time.count(), before.run_time.count());
  EXPECT_EQ((metrics(context).total - before.total).run, 1001u);
}

TEST_F(metrics_of_time, a_handler_that_throws_is_measured_too) {
  weft::io_context context({.measure = true});
  for (int i = 0; i != 1000; ++i)
    weft::post(context, [] {
      spend(1ms);
      throw 1;
    });
  for (int i = 0; i != 1000; ++i)
    EXPECT_THROW(context.run(), int);
  EXPECT_GE(metrics(context).run_time.count(), 1000u / 127);
  EXPECT_EQ(metrics(context).run_time.mean(), 1ms);
}

}  // namespace
