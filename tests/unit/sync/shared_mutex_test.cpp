// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/sync/async_shared_mutex.hpp>

#include "support/misuse.hpp"

namespace {

using weft::error_code;
using weft::io_context;
using weft_test::expect_assertion;

template <class Policy>
class shared_mutex_of : public ::testing::Test {
 protected:
  using mutex_type = weft::basic_async_shared_mutex<Policy>;

  auto note(char c) {
    return [this, c](error_code ec) { granted += ec ? '-' : c; };
  }
  std::string run() {
    context.poll();
    context.restart();
    return std::exchange(granted, "");
  }

  io_context context;
  mutex_type mutex{context};
  std::string granted;
};
using policies = ::testing::Types<weft::sharing::concurrent, weft::sharing::local>;
TYPED_TEST_SUITE(shared_mutex_of, policies);

TYPED_TEST(shared_mutex_of, is_shared_by_many_or_had_by_one) {
  EXPECT_TRUE(this->mutex.try_lock_shared());
  EXPECT_TRUE(this->mutex.try_lock_shared());
  EXPECT_FALSE(this->mutex.try_lock());
  this->mutex.unlock_shared();
  EXPECT_FALSE(this->mutex.try_lock());
  this->mutex.unlock_shared();
  EXPECT_TRUE(this->mutex.try_lock());
  EXPECT_FALSE(this->mutex.try_lock_shared());
  this->mutex.unlock();
  EXPECT_TRUE(this->mutex.try_lock_shared());
}

TYPED_TEST(shared_mutex_of, is_granted_to_neighbouring_readers_together_and_to_writers_alone) {
  EXPECT_TRUE(this->mutex.try_lock());
  this->mutex.async_lock_shared(this->note('a'));
  this->mutex.async_lock_shared(this->note('b'));
  this->mutex.async_lock(this->note('W'));
  this->mutex.async_lock_shared(this->note('c'));
  this->mutex.async_lock_shared(this->note('d'));
  EXPECT_EQ(this->run(), "");
  this->mutex.unlock();
  EXPECT_EQ(this->run(), "ab");
  this->mutex.unlock_shared();
  EXPECT_EQ(this->run(), "");
  this->mutex.unlock_shared();
  EXPECT_EQ(this->run(), "W");
  this->mutex.unlock();
  EXPECT_EQ(this->run(), "cd");
}

TYPED_TEST(shared_mutex_of, a_waiting_writer_is_not_overtaken_by_readers) {
  EXPECT_TRUE(this->mutex.try_lock_shared());
  this->mutex.async_lock(this->note('W'));
  EXPECT_FALSE(this->mutex.try_lock_shared());
  this->mutex.async_lock_shared(this->note('r'));
  EXPECT_EQ(this->run(), "");
  this->mutex.unlock_shared();
  EXPECT_EQ(this->run(), "W");
}

TYPED_TEST(shared_mutex_of, a_cancelled_writer_lets_those_behind_it_share) {
  weft::cancellation_signal signal;
  EXPECT_TRUE(this->mutex.try_lock_shared());
  this->mutex.async_lock(weft::bind_cancellation_slot(signal.slot(), this->note('W')));
  this->mutex.async_lock_shared(this->note('r'));
  EXPECT_EQ(this->run(), "");
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(this->run(), "-r");
}

TYPED_TEST(shared_mutex_of, its_locks_give_back_what_they_own) {
  using type = typename TestFixture::mutex_type;
  int calls = 0;
  this->mutex.async_scoped_lock_shared([&](error_code ec, typename type::shared_lock lock) {
    EXPECT_FALSE(ec);
    EXPECT_TRUE(lock);
    EXPECT_TRUE(this->mutex.try_lock_shared());
    this->mutex.unlock_shared();
    EXPECT_FALSE(this->mutex.try_lock());
    ++calls;
  });
  this->context.run();
  this->context.restart();
  this->mutex.async_scoped_lock([&](error_code ec, typename type::scoped_lock lock) {
    EXPECT_FALSE(ec);
    EXPECT_TRUE(lock);
    EXPECT_FALSE(this->mutex.try_lock_shared());
    ++calls;
  });
  this->context.run();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(this->mutex.try_lock());
}

TEST(shared_mutex, keeps_writers_apart_from_all_on_four_threads) {
  weft::thread_pool pool(4);
  weft::async_shared_mutex mutex(pool);
  constexpr int rounds = 500;
  long value = 0;  // guarded by the mutex
  std::atomic<int> readers = 0;
  std::atomic<int> writers = 0;
  for (int i = 0; i != 3; ++i)
    co_spawn(
        pool,
        [&]() -> weft::awaitable<void> {
          for (int n = 0; n != rounds; ++n) {
            auto lock = co_await mutex.async_scoped_lock();
            EXPECT_EQ(++writers, 1);
            EXPECT_EQ(readers, 0);
            ++value;
            --writers;
          }
        },
        weft::detached);
  for (int i = 0; i != 3; ++i)
    co_spawn(
        pool,
        [&]() -> weft::awaitable<void> {
          for (int n = 0; n != rounds; ++n) {
            auto lock = co_await mutex.async_scoped_lock_shared();
            ++readers;
            EXPECT_EQ(writers, 0);
            EXPECT_GE(value, 0);
            --readers;
          }
        },
        weft::detached);
  pool.join();
  EXPECT_EQ(value, 3 * rounds);
}

// ---- misuse

TEST(shared_mutex_death, an_unlock_of_what_is_locked_otherwise_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_shared_mutex mutex(context);
        mutex.try_lock_shared();
        mutex.unlock();
      },
      "that nobody has locked");
  expect_assertion(
      [] {
        io_context context;
        weft::async_shared_mutex mutex(context);
        mutex.try_lock();
        mutex.unlock_shared();
      },
      "that nobody shares");
}

}  // namespace
