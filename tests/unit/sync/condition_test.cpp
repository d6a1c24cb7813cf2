// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/sync/async_condition.hpp>

#include "support/misuse.hpp"

namespace {

using weft::awaitable;
using weft::error_code;
using weft::io_context;
using weft_test::expect_assertion;

template <class Policy>
class condition_of : public ::testing::Test {
 protected:
  using mutex_type = weft::basic_async_mutex<Policy>;

  /// Notes the end of a wait, and unlocks the mutex.
  auto note(char c) {
    return [this, c](error_code ec) {
      ended += ec ? '-' : c;
      EXPECT_FALSE(mutex.try_lock());
      mutex.unlock();
    };
  }
  template <class Handler>
  void wait(Handler h) {
    ASSERT_TRUE(mutex.try_lock());
    condition.async_wait(mutex, std::move(h));
  }
  std::string run() {
    context.poll();
    context.restart();
    return std::exchange(ended, "");
  }

  io_context context;
  mutex_type mutex{context};
  weft::basic_async_condition<Policy> condition{context};
  std::string ended;
};
using policies = ::testing::Types<weft::sharing::concurrent, weft::sharing::local>;
TYPED_TEST_SUITE(condition_of, policies);

TYPED_TEST(condition_of, unlocks_the_mutex_and_has_it_again_when_it_completes) {
  this->wait(this->note('a'));
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.notify_one();
  EXPECT_EQ(this->run(), "") << "the mutex is locked";
  this->mutex.unlock();
  EXPECT_EQ(this->run(), "a");
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(condition_of, wakes_one_or_all_in_the_order_of_waiting) {
  for (const char c : {'a', 'b', 'c', 'd'})
    this->wait(this->note(c));
  this->condition.notify_one();
  EXPECT_EQ(this->run(), "a");
  this->condition.notify_all();
  EXPECT_EQ(this->run(), "bcd");
  this->condition.notify_one();
  EXPECT_EQ(this->run(), "");
}

TYPED_TEST(condition_of, a_cancelled_wait_has_the_mutex_when_it_completes) {
  weft::cancellation_signal signal;
  this->wait(weft::bind_cancellation_slot(signal.slot(), this->note('a')));
  EXPECT_TRUE(this->mutex.try_lock());
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(this->run(), "");
  this->mutex.unlock();
  EXPECT_EQ(this->run(), "-");
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(condition_of, a_wait_that_was_notified_stays_so_while_it_waits_for_the_mutex) {
  weft::cancellation_signal signal;
  this->wait(weft::bind_cancellation_slot(signal.slot(), this->note('a')));
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.notify_one();
  signal.emit(weft::cancellation_type::terminal);
  this->condition.cancel();
  this->mutex.cancel();
  EXPECT_EQ(this->run(), "") << "a cancelled mutex is not granted";
  this->mutex.unlock();
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(condition_of, destroyed_it_ends_its_waits_with_the_mutex) {
  std::optional<weft::basic_async_condition<TypeParam>> other(std::in_place, this->context);
  EXPECT_TRUE(this->mutex.try_lock());
  other->async_wait(this->mutex, this->note('a'));
  other.reset();
  EXPECT_EQ(this->run(), "-");
}

TYPED_TEST(condition_of, waits_that_relock_a_mutex_are_aborted_when_that_is_destroyed) {
  std::optional<typename TestFixture::mutex_type> other(std::in_place, this->context);
  EXPECT_TRUE(other->try_lock());
  error_code result;
  this->condition.async_wait(*other, [&](error_code ec) { result = ec; });
  EXPECT_TRUE(other->try_lock());
  this->condition.notify_one();
  other.reset();
  this->run();
  EXPECT_EQ(result, weft::error::operation_aborted);
}

TYPED_TEST(condition_of, waits_that_relock_are_destroyed_with_the_context) {
  auto end = std::make_unique<io_context>();
  typename TestFixture::mutex_type other(*end);
  weft::basic_async_condition<TypeParam> waits(*end);
  const auto alive = std::make_shared<int>();
  EXPECT_TRUE(other.try_lock());
  waits.async_wait(other, [alive](error_code) { FAIL(); });
  EXPECT_TRUE(other.try_lock());
  waits.async_wait(other, [alive](error_code) { FAIL(); });
  EXPECT_TRUE(other.try_lock());
  waits.notify_one();
  EXPECT_EQ(alive.use_count(), 3);
  end.reset();
  EXPECT_EQ(alive.use_count(), 1);
}

TYPED_TEST(condition_of, with_a_predicate_waits_until_it_holds) {
  bool holds = false;
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.async_wait(this->mutex, [&] { return holds; }, this->note('a'));
  this->condition.notify_one();
  EXPECT_EQ(this->run(), "");
  EXPECT_TRUE(this->mutex.try_lock());
  holds = true;
  this->mutex.unlock();
  EXPECT_EQ(this->run(), "");
  this->condition.notify_one();
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(condition_of, with_a_predicate_that_holds_completes_at_once_but_not_inline) {
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.async_wait(this->mutex, [] { return true; }, this->note('a'));
  EXPECT_EQ(this->ended, "");
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(condition_of, with_a_predicate_is_cancelled_by_its_slot) {
  weft::cancellation_signal signal;
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.async_wait(
      this->mutex, [] { return false; },
      weft::bind_cancellation_slot(signal.slot(), this->note('a')));
  signal.emit(weft::cancellation_type::total);
  EXPECT_EQ(this->run(), "-");
}

TYPED_TEST(condition_of, with_a_predicate_is_cancelled_also_after_it_was_notified) {
  weft::cancellation_signal signal;
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.async_wait(
      this->mutex, [] { return false; },
      weft::bind_cancellation_slot(signal.slot(), this->note('a')));
  this->condition.notify_one();
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(this->run(), "-");
}

TYPED_TEST(condition_of, with_a_predicate_that_holds_reports_so_though_cancelled_after_the_notice) {
  weft::cancellation_signal signal;
  bool holds = false;
  EXPECT_TRUE(this->mutex.try_lock());
  this->condition.async_wait(
      this->mutex, [&] { return holds; },
      weft::bind_cancellation_slot(signal.slot(), this->note('a')));
  holds = true;
  this->condition.notify_one();
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(this->run(), "a");
}

TYPED_TEST(condition_of, with_a_predicate_is_ended_with_the_condition_also_after_it_was_notified) {
  for (const bool is_destroyed : {false, true}) {
    std::optional<weft::basic_async_condition<TypeParam>> other(std::in_place, this->context);
    EXPECT_TRUE(this->mutex.try_lock());
    other->async_wait(this->mutex, [] { return false; }, this->note('a'));
    other->notify_one();
    if (is_destroyed)
      other.reset();
    else
      other->cancel();
    EXPECT_EQ(this->run(), "-");
  }
}

TYPED_TEST(condition_of, a_context_that_ends_with_a_wait_leaves_the_mutex_to_who_has_it) {
  auto end = std::make_unique<io_context>();
  weft::basic_async_condition<TypeParam> waits(*end);
  co_spawn(
      *end,
      [&]() -> awaitable<void> {
        auto lock = co_await this->mutex.async_scoped_lock();
        co_await waits.async_wait(lock);
      },
      weft::detached);
  end->poll();
  EXPECT_TRUE(this->mutex.try_lock());
  end.reset();
  EXPECT_FALSE(this->mutex.try_lock()) << "unlocked by who did not have it";
  this->mutex.unlock();
}

TYPED_TEST(condition_of, a_context_that_ends_before_a_wait_is_told_frees_the_mutex) {
  auto end = std::make_unique<io_context>();
  weft::basic_async_condition<TypeParam> waits(*end);
  EXPECT_TRUE(this->mutex.try_lock());
  waits.async_wait(this->mutex, [](error_code) { FAIL(); });
  waits.notify_one();
  EXPECT_FALSE(this->mutex.try_lock());
  end.reset();
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(condition_of, a_context_that_ends_takes_its_wait_out_of_the_queue_of_a_mutex) {
  auto end = std::make_unique<io_context>();
  weft::basic_async_condition<TypeParam> waits(*end);
  const auto alive = std::make_shared<int>();
  EXPECT_TRUE(this->mutex.try_lock());
  waits.async_wait(this->mutex, [alive](error_code) { FAIL(); });
  EXPECT_TRUE(this->mutex.try_lock());
  waits.notify_one();
  end.reset();
  EXPECT_EQ(alive.use_count(), 1);
  this->mutex.unlock();
  EXPECT_TRUE(this->mutex.try_lock());
}

TYPED_TEST(condition_of, a_mutex_that_ends_leaves_a_scoped_lock_without) {
  std::optional<typename TestFixture::mutex_type> other(std::in_place, this->context);
  bool was_aborted = false;
  co_spawn(
      this->context,
      [&]() -> awaitable<void> {
        auto lock = co_await other->async_scoped_lock();
        try {
          co_await this->condition.async_wait(lock);
        } catch (const weft::system_error& e) {
          was_aborted = e.code() == weft::error::operation_aborted;
        }
        EXPECT_FALSE(lock.owns_lock());
      },
      weft::detached);
  this->run();
  EXPECT_TRUE(other->try_lock());
  this->condition.notify_one();
  other.reset();
  this->run();
  EXPECT_TRUE(was_aborted);
}

TYPED_TEST(condition_of, a_mutex_may_end_before_its_wait_is_notified) {
  std::optional<typename TestFixture::mutex_type> first(std::in_place, this->context);
  std::optional<weft::basic_async_condition<TypeParam>> other(std::in_place, this->context);
  std::vector<error_code> results;
  for (int i = 0; i != 2; ++i) {
    EXPECT_TRUE(first->try_lock());
    other->async_wait(*first, [&](error_code ec) { results.push_back(ec); });
  }
  first.reset();
  other->notify_one();
  other.reset();
  this->run();
  const error_code aborted = weft::error::operation_aborted;
  EXPECT_EQ(results, (std::vector<error_code>{aborted, aborted}));
}

TEST(condition, a_wait_may_be_cancelled_while_its_mutex_ends) {
  for (int i = 0; i != 100; ++i) {
    io_context context;
    std::optional<weft::async_mutex> mutex(std::in_place, context);
    weft::async_condition condition(context);
    weft::cancellation_signal signal;
    int calls = 0;
    EXPECT_TRUE(mutex->try_lock());
    condition.async_wait(*mutex,
                         weft::bind_cancellation_slot(signal.slot(), [&](error_code) { ++calls; }));
    EXPECT_TRUE(mutex->try_lock());
    condition.notify_one();
    std::thread canceller([&] { signal.emit(weft::cancellation_type::terminal); });
    mutex.reset();
    canceller.join();
    context.run();
    EXPECT_EQ(calls, 1);
  }
}

TYPED_TEST(condition_of, serves_coroutines_with_a_scoped_lock) {
  std::deque<int> queue;
  std::vector<int> taken;
  co_spawn(
      this->context,
      [&]() -> awaitable<void> {
        for (int i = 0; i != 20; ++i) {
          auto lock = co_await this->mutex.async_scoped_lock();
          while (queue.empty())
            co_await this->condition.async_wait(lock);
          EXPECT_TRUE(lock.owns_lock());
          taken.push_back(queue.front());
          queue.pop_front();
        }
      },
      weft::detached);
  co_spawn(
      this->context,
      [&]() -> awaitable<void> {
        for (int i = 0; i != 20; ++i) {
          auto lock = co_await this->mutex.async_scoped_lock();
          queue.push_back(i);
          lock.unlock();
          this->condition.notify_one();
          if (i % 3 == 0)
            co_await weft::post(this->context, weft::deferred);
        }
      },
      weft::detached);
  this->context.run();
  ASSERT_EQ(taken.size(), 20u);
  for (int i = 0; i != 20; ++i)
    EXPECT_EQ(taken[static_cast<std::size_t>(i)], i);
}

TEST(condition, a_bounded_queue_of_four_threads_loses_nothing) {
  weft::thread_pool pool(4);
  weft::async_mutex mutex(pool);
  weft::async_condition not_empty(pool);
  weft::async_condition not_full(pool);
  std::deque<int> queue;  // guarded by the mutex
  std::atomic<long> sum = 0;
  constexpr int each = 1000;
  for (int i = 0; i != 2; ++i) {
    co_spawn(
        pool,
        [&]() -> awaitable<void> {
          for (int n = 1; n <= each; ++n) {
            auto lock = co_await mutex.async_scoped_lock();
            while (queue.size() == 2)
              co_await not_full.async_wait(lock);
            queue.push_back(n);
            not_empty.notify_one();
          }
        },
        weft::detached);
    co_spawn(
        pool,
        [&]() -> awaitable<void> {
          for (int n = 1; n <= each; ++n) {
            auto lock = co_await mutex.async_scoped_lock();
            while (queue.empty())
              co_await not_empty.async_wait(lock);
            sum += queue.front();
            queue.pop_front();
            not_full.notify_one();
          }
        },
        weft::detached);
  }
  pool.join();
  EXPECT_EQ(sum, 2L * each * (each + 1) / 2);
}

// ---- misuse

TEST(condition_death, a_wait_without_the_lock_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        weft::async_mutex mutex(context);
        weft::async_condition condition(context);
        condition.async_wait(mutex, [](error_code) {});
      },
      "that nobody has locked");
  expect_assertion(
      [] {
        io_context context;
        weft::async_condition condition(context);
        weft::async_mutex::scoped_lock none;
        condition.async_wait(none, [](error_code) {});
      },
      "a wait needs a lock that owns its mutex");
}

}  // namespace
