// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/sync/async_mutex.hpp>

#include "support/misuse.hpp"

namespace {

using weft::async_mutex;
using weft::awaitable;
using weft::detached;
using weft::error_code;
using weft::io_context;
using local_mutex = weft::basic_async_mutex<weft::sharing::local>;
using weft_test::expect_assertion;

template <class Mutex>
class mutex_of : public ::testing::Test {
 protected:
  io_context context;
  Mutex mutex{context};
};
using mutexes = ::testing::Types<async_mutex, local_mutex>;
TYPED_TEST_SUITE(mutex_of, mutexes);

TYPED_TEST(mutex_of, is_locked_by_one_at_a_time) {
  EXPECT_TRUE(this->mutex.try_lock());
  EXPECT_FALSE(this->mutex.try_lock());
  this->mutex.unlock();
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(mutex_of, that_is_free_is_granted_at_once_but_not_inline) {
  bool is_called = false;
  this->mutex.async_lock([&](error_code ec) {
    EXPECT_FALSE(ec);
    is_called = true;
  });
  EXPECT_FALSE(is_called);
  EXPECT_FALSE(this->mutex.try_lock());
  this->context.run();
  EXPECT_TRUE(is_called);
}

TYPED_TEST(mutex_of, is_handed_over_in_the_order_of_asking_and_nobody_overtakes) {
  std::vector<int> order;
  EXPECT_TRUE(this->mutex.try_lock());
  for (int i = 0; i != 4; ++i)
    this->mutex.async_lock([&, i](error_code) {
      order.push_back(i);
      EXPECT_FALSE(this->mutex.try_lock());
      this->mutex.unlock();
    });
  this->mutex.unlock();
  EXPECT_FALSE(this->mutex.try_lock()) << "it has been handed over";
  this->context.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3}));
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(mutex_of, is_free_after_an_unlock_when_all_who_waited_have_been_cancelled) {
  EXPECT_TRUE(this->mutex.try_lock());
  int aborted = 0;
  for (int i = 0; i != 2; ++i)
    this->mutex.async_lock([&](error_code ec) { aborted += ec == weft::error::operation_aborted; });
  this->mutex.cancel();
  this->context.run();
  EXPECT_EQ(aborted, 2);
  EXPECT_FALSE(this->mutex.try_lock());
  this->mutex.unlock();
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(mutex_of, passes_by_a_cancelled_wait) {
  weft::cancellation_signal signal;
  std::vector<int> order;
  EXPECT_TRUE(this->mutex.try_lock());
  this->mutex.async_lock([&](error_code) { order.push_back(0); });
  this->mutex.async_lock(
      weft::bind_cancellation_slot(signal.slot(), [&](error_code) { order.push_back(1); }));
  this->mutex.async_lock([&](error_code) { order.push_back(2); });
  signal.emit(weft::cancellation_type::partial);
  this->mutex.unlock();
  this->mutex.unlock();
  this->context.run();
  EXPECT_EQ(order, (std::vector{1, 0, 2}));
}

TYPED_TEST(mutex_of, a_scoped_lock_unlocks_it_at_its_end) {
  using lock = typename TypeParam::scoped_lock;
  this->mutex.async_scoped_lock([&](error_code ec, lock l) {
    EXPECT_FALSE(ec);
    EXPECT_TRUE(l.owns_lock());
    EXPECT_FALSE(this->mutex.try_lock());
    lock moved = std::move(l);
    EXPECT_FALSE(l);
    EXPECT_FALSE(this->mutex.try_lock());
    moved.unlock();
    EXPECT_TRUE(this->mutex.try_lock());
    moved.unlock();
    EXPECT_FALSE(this->mutex.try_lock()) << "it gives nothing back twice";
    this->mutex.unlock();
  });
  this->context.run();
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(mutex_of, a_scoped_lock_owns_nothing_after_an_error) {
  EXPECT_TRUE(this->mutex.try_lock());
  bool is_called = false;
  this->mutex.async_scoped_lock([&](error_code ec, typename TypeParam::scoped_lock l) {
    EXPECT_EQ(ec, weft::error::operation_aborted);
    EXPECT_FALSE(l);
    is_called = true;
  });
  this->mutex.cancel();
  this->context.run();
  EXPECT_TRUE(is_called);
}

TYPED_TEST(mutex_of, excludes_coroutines_that_suspend_while_they_have_it) {
  int inside = 0;
  int done = 0;
  const auto work = [&]() -> awaitable<void> {
    for (int i = 0; i != 50; ++i) {
      auto lock = co_await this->mutex.async_scoped_lock();
      EXPECT_EQ(++inside, 1);
      co_await weft::post(this->context, weft::deferred);
      --inside;
      lock.unlock();
      co_await this->mutex.async_lock();
      EXPECT_EQ(inside, 0);
      this->mutex.unlock();
    }
    ++done;
  };
  for (int i = 0; i != 3; ++i)
    co_spawn(this->context, work, detached);
  this->context.run();
  EXPECT_EQ(done, 3);
}

TYPED_TEST(mutex_of, that_is_free_lets_a_coroutine_go_on_32_times_before_others_have_their_turn) {
  std::vector<int> locks_before_turn;
  int locks = 0;
  co_spawn(
      this->context,
      [&]() -> awaitable<void> {
        for (; locks != 100; ++locks) {
          co_await this->mutex.async_lock();
          this->mutex.unlock();
        }
      },
      detached);
  weft::post(this->context, [&] { locks_before_turn.push_back(locks); });
  this->context.run();
  ASSERT_EQ(locks_before_turn.size(), 1u);
  EXPECT_LT(locks_before_turn[0], 34);
  EXPECT_GT(locks_before_turn[0], 30);
  EXPECT_EQ(locks, 100);
}

TEST(mutex, gives_its_results_to_futures) {
  io_context context;
  async_mutex mutex(context);
  EXPECT_TRUE(mutex.try_lock());
  std::future<void> first = mutex.async_lock(weft::use_future);
  std::future<async_mutex::scoped_lock> second = mutex.async_scoped_lock(weft::use_future);
  mutex.unlock();
  mutex.unlock();
  context.run();
  first.get();
  EXPECT_TRUE(second.get().owns_lock());
  EXPECT_TRUE(mutex.try_lock());
}

TEST(mutex, gives_a_coroutine_its_results_by_other_tokens) {
  io_context context;
  async_mutex mutex(context);
  bool is_done = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        auto [ec, lock] = co_await mutex.async_scoped_lock(weft::as_tuple(weft::deferred));
        EXPECT_FALSE(ec);
        EXPECT_TRUE(lock.owns_lock());
        is_done = true;
      },
      detached);
  context.run();
  EXPECT_TRUE(is_done);
  EXPECT_TRUE(mutex.try_lock());
}

TEST(mutex, may_be_unlocked_by_another_thread_than_locked_it) {
  io_context context;
  async_mutex mutex(context);
  EXPECT_TRUE(mutex.try_lock());
  bool is_granted = false;
  mutex.async_lock([&](error_code ec) { is_granted = !ec; });
  std::thread([&] { mutex.unlock(); }).join();
  context.run();
  EXPECT_TRUE(is_granted);
}

TEST(mutex, excludes_handlers_of_four_threads) {
  weft::thread_pool pool(4);
  async_mutex mutex(pool);
  constexpr int chains = 8;
  constexpr int rounds = 2000;
  long count = 0;  // guarded by the mutex
  struct chain {
    async_mutex& mutex;
    long& count;
    int left;
    void go() {
      mutex.async_lock([this](error_code ec) {
        ASSERT_FALSE(ec);
        ++count;
        mutex.unlock();
        if (--left != 0)
          go();
      });
    }
  };
  std::vector<std::unique_ptr<chain>> all;
  for (int i = 0; i != chains; ++i) {
    all.push_back(std::make_unique<chain>(chain{mutex, count, rounds}));
    all.back()->go();
  }
  pool.join();
  EXPECT_EQ(count, chains * rounds);
}

TEST(mutex, excludes_coroutines_of_four_threads_while_others_are_cancelled) {
  weft::thread_pool pool(4);
  async_mutex mutex(pool);
  constexpr int rounds = 2000;
  long count = 0;  // guarded by the mutex
  std::atomic<long> granted = 0;
  std::atomic<int> working = 4;
  for (int i = 0; i != 4; ++i)
    co_spawn(
        pool,
        [&]() -> awaitable<void> {
          for (int n = 0; n != rounds; ++n) {
            try {
              auto lock = co_await mutex.async_scoped_lock();
              ++count;
              ++granted;
            } catch (const weft::system_error& e) {
              EXPECT_EQ(e.code(), weft::error::operation_aborted);
            }
          }
          --working;
        },
        detached);
  co_spawn(
      pool,
      [&]() -> awaitable<void> {
        while (working != 0) {
          mutex.cancel();
          co_await weft::post(pool, weft::deferred);
        }
      },
      detached);
  pool.join();
  EXPECT_EQ(count, granted);
  EXPECT_TRUE(mutex.try_lock());
}

TEST(mutex, a_lock_is_granted_or_aborted_once_however_emissions_and_unlocks_meet) {
  weft::thread_pool pool(2);
  async_mutex mutex(pool);
  for (int round = 0; round != 2000; ++round) {
    weft::cancellation_signal signal;
    std::atomic<int> calls = 0;
    bool is_granted = false;
    ASSERT_TRUE(mutex.try_lock());
    mutex.async_lock(weft::bind_cancellation_slot(signal.slot(), [&](error_code ec) {
      is_granted = !ec;
      ++calls;
      calls.notify_one();
    }));
    weft::post(pool, [&] {
      signal.emit(weft::cancellation_type::terminal);
      ++calls;
      calls.notify_one();
    });
    mutex.unlock();
    for (int seen = calls; seen != 2; seen = calls)
      calls.wait(seen);
    if (is_granted)
      mutex.unlock();
  }
}

// ---- misuse

TEST(local_mutex_death, a_second_thread_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        local_mutex mutex(context);
        mutex.try_lock();
        std::thread([&] { mutex.try_lock(); }).join();
      },
      "a second thread uses an object of policy sharing::local");
}

TEST(mutex_death, an_unlock_without_a_lock_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        async_mutex mutex(context);
        mutex.unlock();
      },
      "that nobody has locked");
}

}  // namespace
