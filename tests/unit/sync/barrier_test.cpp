// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/coro/this_coro.hpp>
#include <weft/sync/async_barrier.hpp>

#include "support/misuse.hpp"

namespace {

using weft::error_code;
using weft::io_context;
using weft_test::expect_assertion;

template <class Policy>
class barrier_of : public ::testing::Test {
 protected:
  auto note(char c) {
    return [this, c](error_code ec) { ended += ec ? '-' : c; };
  }
  std::string run() {
    context.poll();
    context.restart();
    return std::exchange(ended, "");
  }

  io_context context;
  std::string ended;
  weft::basic_async_barrier<Policy> barrier{context, 3, [this] { ended += '|'; }};
};
using policies = ::testing::Types<weft::sharing::concurrent, weft::sharing::local>;
TYPED_TEST_SUITE(barrier_of, policies);

TYPED_TEST(barrier_of, lets_all_go_on_when_the_last_has_arrived_phase_by_phase) {
  for (int phase = 0; phase != 3; ++phase) {
    this->barrier.async_arrive_and_wait(this->note('a'));
    this->barrier.async_arrive_and_wait(this->note('b'));
    EXPECT_EQ(this->run(), "");
    this->barrier.async_arrive_and_wait(this->note('c'));
    EXPECT_EQ(this->ended, "|") << "completed before anybody goes on";
    EXPECT_EQ(this->run().size(), 4u);
  }
}

TYPED_TEST(barrier_of, may_be_arrived_at_without_waiting_and_waited_for_later) {
  auto first = this->barrier.arrive();
  this->barrier.async_wait(first, this->note('a'));
  this->barrier.async_arrive_and_wait(this->note('b'));
  EXPECT_EQ(this->run(), "");
  auto last = this->barrier.arrive();
  EXPECT_EQ(this->run(), "|ab");
  this->barrier.async_wait(last, this->note('c'));
  EXPECT_EQ(this->run(), "c") << "its phase is over";
}

TYPED_TEST(barrier_of, expects_less_of_those_who_drop_out) {
  this->barrier.arrive_and_drop();
  this->barrier.async_arrive_and_wait(this->note('a'));
  this->barrier.async_arrive_and_wait(this->note('b'));
  EXPECT_EQ(this->run().size(), 3u);
  this->barrier.async_arrive_and_wait(this->note('a'));
  this->barrier.async_arrive_and_wait(this->note('b'));
  EXPECT_EQ(this->run().size(), 3u);
}

TYPED_TEST(barrier_of, a_cancelled_arrival_has_not_taken_place) {
  weft::cancellation_signal signal;
  this->barrier.async_arrive_and_wait(weft::bind_cancellation_slot(signal.slot(), this->note('a')));
  this->barrier.arrive();
  signal.emit(weft::cancellation_type::terminal);
  this->barrier.arrive();
  EXPECT_EQ(this->run(), "-") << "one is missing";
  this->barrier.arrive();
  EXPECT_EQ(this->run(), "|");
}

TYPED_TEST(barrier_of, a_cancelled_wait_for_an_arrival_leaves_it) {
  auto arrival = this->barrier.arrive();
  this->barrier.async_wait(arrival, this->note('a'));
  this->barrier.cancel();
  this->barrier.arrive(2);
  EXPECT_EQ(this->run(), "|-");
}

TYPED_TEST(barrier_of, cancelled_as_a_whole_expects_all_again) {
  this->barrier.async_arrive_and_wait(this->note('a'));
  this->barrier.async_arrive_and_wait(this->note('b'));
  this->barrier.cancel();
  EXPECT_EQ(this->run(), "--");
  this->barrier.arrive(2);
  EXPECT_EQ(this->run(), "");
  this->barrier.arrive();
  EXPECT_EQ(this->run(), "|");
}

TEST(barrier, keeps_four_threads_in_step) {
  weft::thread_pool pool(4);
  constexpr int phases = 500;
  std::atomic<int> at[4] = {0, 0, 0, 0};
  int completed = 0;  // written while all wait
  weft::async_barrier barrier(pool, 4, [&] { ++completed; });
  for (std::atomic<int>& mine : at)
    co_spawn(
        pool,
        [&]() -> weft::awaitable<void> {
          for (int n = 1; n <= phases; ++n) {
            mine = n;
            co_await barrier.async_arrive_and_wait();
            EXPECT_EQ(completed, n);
            for (const std::atomic<int>& other : at)
              EXPECT_EQ(other, n);
            co_await barrier.async_arrive_and_wait();
            EXPECT_EQ(completed, ++n);
          }
        },
        weft::detached);
  pool.join();
  EXPECT_EQ(completed, phases);
}

TEST(barrier, counts_well_when_arrivals_are_taken_back_on_other_threads) {
  weft::thread_pool pool(2);
  for (int round = 0; round != 1000; ++round) {
    std::atomic<int> phases = 0;
    std::atomic<int> ended = 0;
    weft::async_barrier barrier(pool, 2, [&] { ++phases; });
    bool is_aborted = false;
    barrier.async_arrive_and_wait([&](error_code ec) {
      is_aborted = !!ec;
      ++ended;
      ended.notify_one();
    });
    weft::post(pool, [&] {
      barrier.cancel();
      ++ended;
      ended.notify_one();
    });
    barrier.arrive();
    for (int seen = ended; seen != 2; seen = ended)
      ended.wait(seen);
    EXPECT_EQ(phases, is_aborted ? 0 : 1);
    if (is_aborted)
      barrier.arrive();
    EXPECT_EQ(phases, 1);
  }
}

// ---- misuse

TEST(barrier_death, an_arrival_of_nobody_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_barrier barrier(context, 1);
        barrier.arrive(0);
      },
      "nobody arrives");
}

TEST(barrier_death, more_arrivals_than_it_expects_are_told_of) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_barrier barrier(context, 2);
        barrier.arrive(3);
      },
      "more arrive at a barrier than it expects");
  expect_assertion(
      [] {
        io_context context;
        const weft::async_barrier barrier(context, 0);
      },
      "at least one arrival in each phase");
}

/// Whether another thread can cancel by `signal` and come back: not if that is held locked here.
void emit_elsewhere(weft::cancellation_signal& signal) {
  std::thread([&] { signal.emit(weft::cancellation_type::total); }).join();
}

TEST(barrier, its_completion_is_called_with_no_lock_held) {
  io_context context;
  weft::cancellation_signal signals[3];
  weft::cancellation_signal* last = &signals[0];
  weft::async_barrier barrier(context, 1, [&] { emit_elsewhere(*last); });
  int ended = 0;

  barrier.async_arrive_and_wait(
      weft::bind_cancellation_slot(signals[0].slot(), [&](error_code ec) { ended += !ec; }));
  last = &signals[1];
  co_spawn(
      context,
      [&]() -> weft::awaitable<void> {
        co_await weft::this_coro::throw_if_cancelled(false);
        co_await barrier.async_arrive_and_wait();
        ++ended;
      },
      weft::bind_cancellation_slot(signals[1].slot(), weft::detached));
  context.run();
  context.restart();
  last = &signals[2];
  weft::spawn(
      context,
      [&](weft::yield_context yield) {
        error_code ec;
        barrier.async_arrive_and_wait(yield[ec]);
        ended += !ec;
      },
      weft::bind_cancellation_slot(signals[2].slot(), weft::detached));
  context.run();
  EXPECT_EQ(ended, 3);
}

}  // namespace
