// SPDX-License-Identifier: BSL-1.0
// What an object has given to an operation comes back if nobody can be told of it: the operation is
// destroyed with its own context, or by its handler's executor, and the object lives on.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/sync/async_event.hpp>
#include <weft/sync/async_mutex.hpp>
#include <weft/sync/async_semaphore.hpp>
#include <weft/sync/async_shared_mutex.hpp>

namespace {

using weft::awaitable;
using weft::io_context;
using weft::yield_context;

/// An object, and a wait for all that it can give.
template <class Object>
struct lendable;

template <class Mutex>
struct lendable_mutex {
  explicit lendable_mutex(io_context& context) : object(context) {}
  bool try_take() { return object.try_lock(); }
  void put_back() { object.unlock(); }
  template <class Token>
  auto wait(Token&& token) {
    return object.async_lock(std::forward<Token>(token));
  }

  Mutex object;
};

template <class Policy>
struct lendable<weft::basic_async_mutex<Policy>> : lendable_mutex<weft::basic_async_mutex<Policy>> {
  using object_type = weft::basic_async_mutex<Policy>;
  using lendable_mutex<object_type>::lendable_mutex;

  template <class Token>
  auto wait_for_a_lock(Token&& token) {
    return this->object.async_scoped_lock(std::forward<Token>(token));
  }
};

template <class Policy>
struct lendable<weft::basic_async_shared_mutex<Policy>>
    : lendable_mutex<weft::basic_async_shared_mutex<Policy>> {
  using object_type = weft::basic_async_shared_mutex<Policy>;
  using lendable_mutex<object_type>::lendable_mutex;

  template <class Token>
  auto wait_for_a_lock(Token&& token) {
    return this->object.async_scoped_lock_shared(std::forward<Token>(token));
  }
};

template <class Policy>
struct lendable<weft::basic_async_semaphore<Policy>> {
  using object_type = weft::basic_async_semaphore<Policy>;

  explicit lendable(io_context& context) : object(context, 3) {}
  bool try_take() { return object.try_acquire(3); }
  void put_back() { object.release(3); }
  template <class Token>
  auto wait(Token&& token) {
    return object.async_acquire(3, std::forward<Token>(token));
  }
  template <class Token>
  auto wait_for_a_lock(Token&& token) {
    return object.async_acquire(2, std::forward<Token>(token));
  }

  object_type object;
};

template <class Object>
class given : public ::testing::Test {
 protected:
  /// What nobody has to be told of is in the object again, and it works.
  void expect_back() {
    ASSERT_TRUE(of.try_take());
    EXPECT_FALSE(of.try_take());
    of.put_back();
    int calls = 0;
    of.wait([&](weft::error_code ec) { calls += !ec; });
    context.poll();
    EXPECT_EQ(calls, 1);
  }

  io_context context;
  lendable<Object> of{context};
  std::optional<io_context> other{std::in_place};
};
using objects = ::testing::Types<weft::basic_async_mutex<weft::sharing::concurrent>,
                                 weft::basic_async_mutex<weft::sharing::local>,
                                 weft::basic_async_shared_mutex<weft::sharing::concurrent>,
                                 weft::basic_async_shared_mutex<weft::sharing::local>,
                                 weft::basic_async_semaphore<weft::sharing::concurrent>,
                                 weft::basic_async_semaphore<weft::sharing::local>>;
TYPED_TEST_SUITE(given, objects);

auto never() {
  return [](auto&&...) { ADD_FAILURE() << "its context has ended"; };
}

TYPED_TEST(given, to_a_handler_of_a_context_that_ends_it_comes_back) {
  ASSERT_TRUE(this->of.try_take());
  this->of.wait(weft::bind_executor(this->other->get_executor(), never()));
  this->of.put_back();
  EXPECT_FALSE(this->of.try_take());
  this->other.reset();
  this->expect_back();
}

TYPED_TEST(given, at_once_to_a_handler_of_a_context_that_ends_it_comes_back) {
  this->of.wait(weft::bind_executor(this->other->get_executor(), never()));
  EXPECT_FALSE(this->of.try_take());
  this->other.reset();
  this->expect_back();
}

TYPED_TEST(given, to_a_cancellable_handler_of_a_context_that_ends_it_comes_back) {
  weft::cancellation_signal signal;
  this->of.wait(
      bind_executor(this->other->get_executor(), bind_cancellation_slot(signal.slot(), never())));
  EXPECT_FALSE(this->of.try_take());
  this->other.reset();
  this->expect_back();
}

TYPED_TEST(given, as_a_lock_to_a_context_that_ends_it_comes_back_once) {
  ASSERT_TRUE(this->of.try_take());
  this->of.wait_for_a_lock(weft::bind_executor(this->other->get_executor(), never()));
  this->of.put_back();
  this->other.reset();
  this->expect_back();
}

TYPED_TEST(given, to_one_whose_context_ends_it_is_handed_on_to_the_next) {
  int calls = 0;
  ASSERT_TRUE(this->of.try_take());
  this->of.wait(weft::bind_executor(this->other->get_executor(), never()));
  this->of.wait([&](weft::error_code ec) { calls += !ec; });
  this->of.put_back();
  this->context.poll();
  EXPECT_EQ(calls, 0);
  this->other.reset();
  this->context.restart();
  this->context.poll();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(this->of.try_take());
}

TYPED_TEST(given, to_a_coroutine_of_a_context_that_ends_it_comes_back) {
  ASSERT_TRUE(this->of.try_take());
  co_spawn(
      *this->other,
      [&]() -> awaitable<void> {
        co_await this->of.wait(weft::deferred);
        ADD_FAILURE();
      },
      weft::detached);
  this->other->poll();
  this->of.put_back();
  this->other.reset();
  this->expect_back();
}

TYPED_TEST(given, at_once_to_a_coroutine_that_gives_others_their_turn_first_it_comes_back) {
  bool is_taken = false;
  co_spawn(
      *this->other,
      [&]() -> awaitable<void> {
        for (;;) {
          is_taken = true;
          co_await this->of.wait(weft::deferred);  // many times at once, then after others
          is_taken = false;
          this->of.put_back();
        }
      },
      weft::detached);
  while (!is_taken)
    this->other->poll_one();
  this->other.reset();
  this->expect_back();
}

TYPED_TEST(given, to_a_fiber_of_a_context_that_ends_it_comes_back) {
  ASSERT_TRUE(this->of.try_take());
  spawn(
      *this->other,
      [&](yield_context yield) {
        this->of.wait(yield);
        ADD_FAILURE();
      },
      weft::detached);
  this->other->poll();
  this->of.put_back();
  this->other.reset();
  this->expect_back();
}

/// Keeps what it is to run, and drops it when it is told to.
struct dropping_executor {
  using functions = std::vector<weft::any_completion_handler<void()>>;

  template <class F>
  void execute(F&& f) const {
    queue->emplace_back(std::forward<F>(f));
  }
  weft::execution_context& query(weft::execution::context_t) const noexcept { return *context; }
  bool operator==(const dropping_executor&) const = default;

  weft::execution_context* context;
  std::shared_ptr<functions> queue = std::make_shared<functions>();
};

TYPED_TEST(given, to_a_handler_whose_executor_drops_it_it_comes_back) {
  for (const bool waits : {true, false}) {
    SCOPED_TRACE(waits);
    const dropping_executor executor{&this->context};
    if (waits) {
      ASSERT_TRUE(this->of.try_take());
    }
    this->of.wait(weft::bind_executor(executor, never()));
    if (waits)
      this->of.put_back();
    this->context.restart();
    this->context.poll();
    EXPECT_EQ(executor.queue->size(), 1u);
    EXPECT_FALSE(this->of.try_take());
    executor.queue->clear();
    this->context.restart();
    this->expect_back();
    this->of.put_back();
  }
}

TYPED_TEST(given, to_one_whose_context_ends_after_the_object_it_does_no_harm) {
  auto gone = std::make_unique<lendable<TypeParam>>(this->context);
  ASSERT_TRUE(gone->try_take());
  gone->wait(weft::bind_executor(this->other->get_executor(), never()));
  gone->put_back();
  gone.reset();
  this->other.reset();
}

TYPED_TEST(given, as_a_lock_in_a_coroutine_that_outlives_the_object_it_does_no_harm) {
  auto gone = std::make_unique<lendable<TypeParam>>(this->context);
  co_spawn(
      *this->other,
      [&]() -> awaitable<void> {
        [[maybe_unused]] const auto lock =
            co_await gone->wait_for_a_lock(weft::as_tuple(weft::deferred));
        gone.reset();
        weft::async_event never(*this->other);
        co_await never.async_wait();
      },
      weft::detached);
  this->other->poll();
  EXPECT_FALSE(gone);
  this->other.reset();
}

}  // namespace
