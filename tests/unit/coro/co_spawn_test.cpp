// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/co_spawn.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>

#include "support/misuse.hpp"
#include "unit/coro/parked.hpp"

namespace {

using weft::awaitable;
using weft::co_spawn;
using weft::detached;
using weft::io_context;
using weft_test::expect_assertion;
using weft_test::parked;
namespace this_coro = weft::this_coro;

awaitable<int> number(int n) {
  co_return n;
}
awaitable<void> nothing() {
  co_return;
}

TEST(co_spawn, takes_an_awaitable_or_a_function_and_an_executor_or_a_context) {
  io_context context;
  std::vector<int> results;
  const auto keep = [&](std::exception_ptr e, int n) {
    EXPECT_FALSE(e);
    results.push_back(n);
  };
  co_spawn(context, number(1), keep);
  co_spawn(context.get_executor(), number(2), keep);
  co_spawn(context, [] { return number(3); }, keep);
  co_spawn(context.get_executor(), [] { return number(4); }, keep);
  co_spawn(weft::any_io_executor(context.get_executor()), number(5), keep);
  EXPECT_TRUE(results.empty()) << "inside co_spawn";
  context.run();
  EXPECT_EQ(results, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST(co_spawn, serves_every_token) {
  io_context context;
  auto future = co_spawn(context, number(1), weft::use_future);
  auto without_result = co_spawn(context, nothing(), weft::use_future);
  co_spawn(context, number(2), detached);
  std::optional<int> later;
  auto operation = co_spawn(context, number(3));
  std::move(operation)([&](std::exception_ptr, int n) { later = n; });
  int inner = 0;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        inner = co_await co_spawn(co_await this_coro::executor, number(4));
      },
      detached);
  context.run();
  EXPECT_EQ(future.get(), 1);
  without_result.get();
  EXPECT_EQ(later, 3);
  EXPECT_EQ(inner, 4);
}

TEST(co_spawn, an_exception_comes_with_a_value_made_by_default) {
  io_context context;
  bool heard = false;
  co_spawn(
      context,
      []() -> awaitable<int> {
        throw std::runtime_error("no");
        co_return 1;
      },
      [&](std::exception_ptr e, int n) {
        EXPECT_THROW(std::rethrow_exception(e), std::runtime_error);
        EXPECT_EQ(n, 0);
        heard = true;
      });
  context.run();
  EXPECT_TRUE(heard);
}

TEST(co_spawn, a_function_that_throws_ends_it_with_the_exception) {
  io_context context;
  bool heard = false;
  co_spawn(
      context, []() -> awaitable<int> { throw std::runtime_error("no"); },
      [&](std::exception_ptr e, int) {
        EXPECT_THROW(std::rethrow_exception(e), std::runtime_error);
        heard = true;
      });
  context.run();
  EXPECT_TRUE(heard);
}

TEST(co_spawn, the_captures_of_its_function_live_as_long_as_the_coroutine) {
  io_context context;
  const auto object = std::make_shared<int>(7);
  int seen = 0;
  co_spawn(
      context,
      [object, &seen]() -> awaitable<void> {
        co_await weft::post(co_await this_coro::executor);
        seen = *object;
      },
      detached);
  context.run();
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(object.use_count(), 1);
}

TEST(co_spawn, the_handler_is_called_in_its_own_executor_and_keeps_that_at_work) {
  io_context context, other;
  bool called = false;
  co_spawn(context, number(1), weft::bind_executor(other, [&](std::exception_ptr, int n) {
             EXPECT_EQ(n, 1);
             called = true;
           }));
  EXPECT_EQ(other.poll(), 0u);
  EXPECT_FALSE(other.stopped()) << "work is outstanding";
  context.run();
  EXPECT_FALSE(called);
  other.run();
  EXPECT_TRUE(called);
}

/// Refuses as long as it is told to; then it runs what it is given at once.
struct moody_executor {
  io_context* context;
  bool* refuses;
  io_context& query(weft::execution::context_t) const noexcept { return *context; }
  template <class F>
  void execute(F f) const {
    if (*refuses)
      throw std::runtime_error("refused");
    std::move(f)();
  }
  bool operator==(const moody_executor&) const noexcept = default;
};

TEST(co_spawn, a_handler_whose_executor_refuses_is_offered_again) {
  io_context context;
  bool refuses = true;
  int calls = 0;
  co_spawn(context, number(1),
           weft::bind_executor(moody_executor{&context, &refuses}, [&](std::exception_ptr, int n) {
             EXPECT_EQ(n, 1);
             ++calls;
           }));
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_THROW(context.run(), std::runtime_error);
  refuses = false;
  context.run();
  EXPECT_EQ(calls, 1);
}

TEST(co_spawn, the_handler_is_called_in_the_executor_though_the_coroutine_ended_elsewhere) {
  io_context context;
  weft::thread_pool pool(1);
  const auto self = std::this_thread::get_id();
  bool called = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await weft::post(weft::bind_executor(pool, weft::deferred));
        EXPECT_NE(std::this_thread::get_id(), self);
      },
      [&](std::exception_ptr) {
        EXPECT_EQ(std::this_thread::get_id(), self);
        called = true;
      });
  context.run();
  EXPECT_TRUE(called);
}

struct thrown_by_moves {
  thrown_by_moves() = default;
  thrown_by_moves(thrown_by_moves&&) {
    if (throws-- == 0)
      throw std::runtime_error("move");
  }
  static inline int throws = -1;
};

TEST(co_spawn, a_result_whose_move_throws_on_its_way_ends_it_with_that_exception) {
  for (int n = 0; n != 2; ++n) {
    io_context context;
    bool heard = false;
    co_spawn(
        context,
        [n]() -> awaitable<thrown_by_moves> {
          thrown_by_moves result;
          thrown_by_moves::throws = n;
          co_return result;
        },
        [&](std::exception_ptr e, const thrown_by_moves&) {
          EXPECT_TRUE(e);
          heard = true;
        });
    context.run();
    thrown_by_moves::throws = -1;
    EXPECT_TRUE(heard) << n;
  }
}

TEST(co_spawn, what_the_handler_throws_leaves_run) {
  io_context context;
  co_spawn(context, nothing(), [](std::exception_ptr) { throw std::runtime_error("handler"); });
  EXPECT_THROW(context.run(), std::runtime_error);
  context.run();
}

TEST(co_spawn, memory_is_given_back_before_the_handler_is_called) {
  io_context context;
  const auto object = std::make_shared<int>(1);
  co_spawn(
      context, [object]() -> awaitable<void> { co_await nothing(); },
      [&](std::exception_ptr) { EXPECT_EQ(object.use_count(), 1); });
  context.run();
}

TEST(co_spawn, many_run_on_a_pool) {
  weft::thread_pool pool(3);
  std::atomic<int> sum{0};
  for (int i = 0; i != 1000; ++i)
    co_spawn(
        pool,
        [&, i]() -> awaitable<void> {
          for (int k = 0; k != 10; ++k)
            co_await weft::post(co_await this_coro::executor);
          sum += i;
        },
        detached);
  pool.join();
  EXPECT_EQ(sum, 999 * 1000 / 2);
}

TEST(co_spawn, keeps_its_executor_at_work_while_the_coroutine_waits_for_something_else) {
  io_context context;
  std::coroutine_handle<> handle;
  co_spawn(context, [&]() -> awaitable<void> { co_await parked{handle}; }, detached);
  context.poll();
  EXPECT_FALSE(context.stopped());
  handle.resume();
  context.run();
}

struct refusing_executor {
  io_context* context;
  io_context& query(weft::execution::context_t) const noexcept { return *context; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  template <class F>
  void execute(F) const {
    throw std::runtime_error("refused");
  }
  bool operator==(const refusing_executor&) const noexcept = default;
};

TEST(co_spawn, an_executor_that_refuses_starts_nothing) {
  io_context context;
  const auto object = std::make_shared<int>(1);
  EXPECT_THROW(co_spawn(
                   refusing_executor{&context},
                   [object]() -> awaitable<void, refusing_executor> { co_return; },
                   [object](std::exception_ptr) { ADD_FAILURE(); }),
               std::runtime_error);
  EXPECT_EQ(object.use_count(), 1);
}

// ---- misuse

TEST(co_spawn_death, a_coroutine_is_started_once) {
  constexpr auto once = "co_spawn starts a coroutine once, and none that has been moved from";
  expect_assertion(
      [] {
        io_context context;
        auto n = number(1);
        co_spawn(context, std::move(n), detached);
        co_spawn(context, std::move(n), detached);
      },
      once);
  expect_assertion(
      [] {
        io_context context;
        co_spawn(context, [] { return awaitable<void>(); }, detached);
        context.run();
      },
      once);
}

}  // namespace
