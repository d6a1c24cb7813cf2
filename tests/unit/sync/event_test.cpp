// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/sync/async_event.hpp>
#include <weft/sync/async_latch.hpp>

#include "support/misuse.hpp"

namespace {

using weft::error_code;
using weft::event_reset;
using weft::io_context;
using weft_test::expect_assertion;

template <class Policy>
class event_of : public ::testing::Test {
 protected:
  using event_type = weft::basic_async_event<Policy>;
  using latch_type = weft::basic_async_latch<Policy>;

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
};
using policies = ::testing::Types<weft::sharing::concurrent, weft::sharing::local>;
TYPED_TEST_SUITE(event_of, policies);

TYPED_TEST(event_of, of_manual_reset_lets_all_go_on_until_it_is_reset) {
  typename TestFixture::event_type event(this->context);
  EXPECT_FALSE(event.is_set());
  event.async_wait(this->note('a'));
  event.async_wait(this->note('b'));
  EXPECT_EQ(this->run(), "");
  event.set();
  event.async_wait(this->note('c'));
  EXPECT_EQ(this->run(), "abc");
  EXPECT_TRUE(event.is_set());
  event.reset();
  event.async_wait(this->note('d'));
  EXPECT_EQ(this->run(), "");
  event.cancel();
  EXPECT_EQ(this->run(), "-");
}

TYPED_TEST(event_of, of_manual_reset_lets_go_on_who_waited_though_it_is_reset_at_once) {
  typename TestFixture::event_type event(this->context);
  event.async_wait(this->note('a'));
  event.set();
  event.reset();
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(event_of, of_automatic_reset_lets_one_go_on_for_each_set) {
  typename TestFixture::event_type event(this->context, event_reset::automatic);
  event.async_wait(this->note('a'));
  event.async_wait(this->note('b'));
  event.set();
  EXPECT_FALSE(event.is_set());
  EXPECT_EQ(this->run(), "a");
  event.set();
  EXPECT_EQ(this->run(), "b");
  event.set();
  event.set();
  EXPECT_TRUE(event.is_set());
  event.async_wait(this->note('c'));
  event.async_wait(this->note('d'));
  EXPECT_EQ(this->run(), "c") << "sets are not counted";
  event.set();
  EXPECT_EQ(this->run(), "d");
}

TYPED_TEST(event_of, may_be_set_from_the_start) {
  typename TestFixture::event_type event(this->context, event_reset::manual, true);
  EXPECT_TRUE(event.is_set());
  event.async_wait(this->note('a'));
  EXPECT_EQ(this->ended, "");
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(event_of, a_latch_lets_go_on_at_zero) {
  typename TestFixture::latch_type latch(this->context, 3);
  latch.async_wait(this->note('a'));
  latch.count_down(2);
  EXPECT_FALSE(latch.try_wait());
  EXPECT_EQ(this->run(), "");
  latch.async_arrive_and_wait(this->note('b'));
  EXPECT_TRUE(latch.try_wait());
  latch.async_wait(this->note('c'));
  EXPECT_EQ(this->run(), "abc");
}

TYPED_TEST(event_of, a_latch_of_nothing_is_open) {
  typename TestFixture::latch_type latch(this->context, 0);
  EXPECT_TRUE(latch.try_wait());
  latch.async_wait(this->note('a'));
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(event_of, a_latch_stays_counted_down_when_the_wait_is_cancelled) {
  typename TestFixture::latch_type latch(this->context, 2);
  latch.async_arrive_and_wait(this->note('a'));
  latch.cancel();
  EXPECT_EQ(this->run(), "-");
  latch.count_down();
  EXPECT_TRUE(latch.try_wait());
}

TEST(event, passes_a_turn_between_coroutines_of_two_threads) {
  weft::thread_pool pool(2);
  weft::async_event ping(pool, event_reset::automatic);
  weft::async_event pong(pool, event_reset::automatic);
  constexpr int rounds = 3000;
  int turn = 0;  // guarded by whose turn it is
  const auto play = [&](weft::async_event& mine, weft::async_event& other,
                        int parity) -> weft::awaitable<void> {
    for (int n = 0; n != rounds; ++n) {
      co_await mine.async_wait();
      EXPECT_EQ(turn++ % 2, parity);
      other.set();
    }
  };
  co_spawn(pool, play(ping, pong, 0), weft::detached);
  co_spawn(pool, play(pong, ping, 1), weft::detached);
  ping.set();
  pool.join();
  EXPECT_EQ(turn, 2 * rounds);
}

TEST(latch, brings_four_threads_together) {
  weft::thread_pool pool(4);
  for (int round = 0; round != 200; ++round) {
    weft::async_latch latch(pool, 4);
    std::atomic<int> arrived = 0;
    std::atomic<int> gone = 0;
    for (int i = 0; i != 4; ++i)
      co_spawn(
          pool,
          [&]() -> weft::awaitable<void> {
            ++arrived;
            co_await latch.async_arrive_and_wait();
            EXPECT_EQ(arrived, 4);
          },
          [&](std::exception_ptr) {
            ++gone;
            gone.notify_one();
          });
    for (int seen = gone; seen != 4; seen = gone)
      gone.wait(seen);
  }
}

/// A policy that counts the locks.
struct counted {
  static constexpr bool is_concurrent = true;
  struct mutex {
    void lock() noexcept { ++locks; }
    void unlock() noexcept {}
  };
  static inline int locks = 0;
};

TEST(latch, the_last_to_arrive_and_wait_does_not_touch_it_after_it_has_let_others_go_on) {
  io_context context;
  weft::basic_async_latch<counted> latch(context, 1);
  int calls = 0;
  latch.async_wait([&](error_code) { ++calls; });
  counted::locks = 0;
  latch.async_arrive_and_wait([&](error_code) { ++calls; });
  EXPECT_EQ(counted::locks, 1) << "who waited may have destroyed it meanwhile";
  context.run();
  EXPECT_EQ(calls, 2);
}

// ---- misuse

TEST(latch_death, a_count_below_zero_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_latch latch(context, 1);
        latch.count_down(2);
      },
      "counted down below zero");
}

}  // namespace
