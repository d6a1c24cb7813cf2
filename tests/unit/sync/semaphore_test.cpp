// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <string>
#include <utility>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/sync/async_semaphore.hpp>

#include "support/misuse.hpp"

namespace {

using weft::error_code;
using weft::io_context;
using weft_test::expect_assertion;

template <class Policy>
class semaphore_of : public ::testing::Test {
 protected:
  auto note(char c) {
    return [this, c](error_code ec) { granted += ec ? '-' : c; };
  }
  std::string run() {
    context.poll();
    context.restart();
    return std::exchange(granted, "");
  }

  io_context context;
  weft::basic_async_semaphore<Policy> semaphore{context, 3};
  std::string granted;
};
using policies = ::testing::Types<weft::sharing::concurrent, weft::sharing::local>;
TYPED_TEST_SUITE(semaphore_of, policies);

TYPED_TEST(semaphore_of, gives_what_it_has) {
  EXPECT_TRUE(this->semaphore.try_acquire());
  EXPECT_FALSE(this->semaphore.try_acquire(3));
  EXPECT_TRUE(this->semaphore.try_acquire(2));
  EXPECT_EQ(this->semaphore.available(), 0u);
  EXPECT_FALSE(this->semaphore.try_acquire());
  this->semaphore.release(5);
  EXPECT_EQ(this->semaphore.available(), 5u);
}

TYPED_TEST(semaphore_of, serves_in_the_order_of_asking_also_for_different_numbers) {
  this->semaphore.async_acquire(5, this->note('5'));
  this->semaphore.async_acquire(this->note('1'));
  EXPECT_FALSE(this->semaphore.try_acquire()) << "nobody overtakes";
  EXPECT_EQ(this->run(), "");
  this->semaphore.release();
  EXPECT_EQ(this->run(), "");
  this->semaphore.release();
  EXPECT_EQ(this->run(), "5");
  this->semaphore.release(2);
  EXPECT_EQ(this->run(), "1");
  EXPECT_EQ(this->semaphore.available(), 1u);
}

TYPED_TEST(semaphore_of, one_release_serves_many) {
  EXPECT_TRUE(this->semaphore.try_acquire(3));
  for (const char c : {'a', 'b', 'c', 'd'})
    this->semaphore.async_acquire(this->note(c));
  this->semaphore.release(3);
  EXPECT_EQ(this->run(), "abc");
}

TYPED_TEST(semaphore_of, a_cancelled_wait_for_many_lets_those_behind_it_go_on) {
  weft::cancellation_signal signal;
  this->semaphore.async_acquire(4, weft::bind_cancellation_slot(signal.slot(), this->note('4')));
  this->semaphore.async_acquire(2, this->note('2'));
  this->semaphore.async_acquire(2, this->note('3'));
  signal.emit(weft::cancellation_type::total);
  EXPECT_EQ(this->run(), "-2");
  EXPECT_EQ(this->semaphore.available(), 1u);
}

TYPED_TEST(semaphore_of, nothing_is_always_there_but_for_those_who_wait) {
  EXPECT_TRUE(this->semaphore.try_acquire(3));
  this->semaphore.async_acquire(0, this->note('0'));
  EXPECT_EQ(this->run(), "0");
}

TYPED_TEST(semaphore_of, lets_so_many_coroutines_in) {
  int inside = 0;
  int most = 0;
  int done = 0;
  for (int i = 0; i != 10; ++i)
    co_spawn(
        this->context,
        [&]() -> weft::awaitable<void> {
          co_await this->semaphore.async_acquire();
          most = std::max(most, ++inside);
          co_await weft::post(this->context, weft::deferred);
          --inside;
          this->semaphore.release();
          ++done;
        },
        weft::detached);
  this->context.run();
  EXPECT_EQ(most, 3);
  EXPECT_EQ(done, 10);
  EXPECT_EQ(this->semaphore.available(), 3u);
}

TEST(semaphore, loses_no_unit_on_four_threads_with_cancellations) {
  weft::thread_pool pool(4);
  weft::async_semaphore semaphore(pool, 4);
  std::atomic<int> inside = 0;
  std::atomic<int> working = 6;
  for (std::size_t i = 0; i != 6; ++i)
    co_spawn(
        pool,
        [&, n = i % 3 + 1]() -> weft::awaitable<void> {
          for (int round = 0; round != 500; ++round) {
            try {
              co_await semaphore.async_acquire(n);
            } catch (const weft::system_error&) {
              continue;
            }
            EXPECT_LE(inside += static_cast<int>(n), 4);
            inside -= static_cast<int>(n);
            semaphore.release(n);
          }
          --working;
        },
        weft::detached);
  co_spawn(
      pool,
      [&]() -> weft::awaitable<void> {
        while (working != 0) {
          semaphore.cancel();
          co_await weft::post(pool, weft::deferred);
        }
      },
      weft::detached);
  pool.join();
  EXPECT_EQ(semaphore.available(), 4u);
}

// ---- misuse

TEST(semaphore_death, more_units_than_it_can_count_are_told_of) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_semaphore semaphore(context, std::numeric_limits<std::size_t>::max());
        semaphore.release();
      },
      "more units are released than a semaphore counts");
}

}  // namespace
