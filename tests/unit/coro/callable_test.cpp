// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/callable.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <coroutine>
#include <memory>
#include <stdexcept>
#include <vector>

#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/resume_event.hpp>
#include <weft/coro/resume_loop.hpp>
#include <weft/coro/spawn.hpp>

#include "support/misuse.hpp"

namespace {

using weft::awaitable;
using weft::callable;
using weft::co_spawn;
using weft::io_context;
using weft::task;
using weft_test::expect_assertion;
namespace this_coro = weft::this_coro;

callable<int> number(int n) {
  co_return n;
}

TEST(callable, runs_when_it_is_started) {
  callable<int> c = number(3);
  EXPECT_TRUE(c.valid());
  EXPECT_FALSE(c.is_started());
  EXPECT_FALSE(c.done());
  c.start();
  EXPECT_TRUE(c.is_started());
  ASSERT_TRUE(c.done());
  EXPECT_EQ(c.get(), 3);
}

TEST(callable, goes_on_where_it_has_suspended_itself) {
  std::vector<int> steps;
  const auto inner = [&]() -> task<void> {
    steps.push_back(2);
    co_await std::suspend_always();
    steps.push_back(3);
  };
  const auto outer = [&]() -> callable<> {
    steps.push_back(1);
    co_await std::suspend_always();
    co_await inner();
    steps.push_back(4);
  };
  callable<> c = outer();
  c.start();
  EXPECT_EQ(steps, (std::vector{1}));
  c.resume();
  EXPECT_EQ(steps, (std::vector{1, 2}));
  EXPECT_FALSE(c.done());
  c.resume();
  EXPECT_EQ(steps, (std::vector{1, 2, 3, 4}));
  EXPECT_TRUE(c.done());
}

TEST(callable, throws_what_has_left_it_when_it_is_asked) {
  const auto fail = []() -> callable<std::unique_ptr<int>> {
    throw std::runtime_error("no");
    co_return nullptr;
  };
  auto c = fail();
  c.start();
  ASSERT_TRUE(c.done());
  EXPECT_THROW(c.get(), std::runtime_error);
}

TEST(callable, is_resumed_by_events) {
  weft::resume_event<int, weft::sharing::local> next;
  const auto sum = [&]() -> callable<int> {
    int total = 0;
    while (const int n = co_await next)
      total += n;
    co_return total;
  };
  auto c = sum();
  c.start();
  for (int n : {1, 2, 3, 0})
    EXPECT_TRUE(next.resume(n));
  ASSERT_TRUE(c.done());
  EXPECT_EQ(c.get(), 6);
}

task<int> depth(int n) {
  if (n == 0)
    co_return 0;
  co_return 1 + co_await depth(n - 1);
}

TEST(callable, calls_tasks_a_million_deep_without_growing_the_stack) {
  const auto begin = []() -> callable<int> {
    co_await std::suspend_always();
    co_return co_await depth(1'000'000);
  };
  auto c = begin();
  c.start();
  c.resume();
  EXPECT_EQ(c.get(), 1'000'000);
}

TEST(callable, resumed_by_an_event_it_calls_tasks_a_million_deep) {
  weft::resume_event<void, weft::sharing::local> go;
  const auto begin = [&]() -> callable<int> {
    co_await go;
    const int first = co_await depth(1'000'000);
    co_await go;
    co_return first + co_await depth(1'000'000);
  };
  auto c = begin();
  c.start();
  go.resume();
  go.resume();
  ASSERT_TRUE(c.done());
  EXPECT_EQ(c.get(), 2'000'000);
}

TEST(callable, refuses_operations_because_it_has_no_executor) {
  const auto wait = []() -> callable<> { co_await weft::deferred.values(1); };
  auto c = wait();
  c.start();
  ASSERT_TRUE(c.done());
  EXPECT_THROW(c.get(), std::logic_error);
}

TEST(callable, one_that_is_awaited_is_called_as_a_task) {
  const auto wait = []() -> callable<int> {
    co_await weft::post(co_await this_coro::executor);
    co_return 4;
  };
  io_context context;
  auto future = co_spawn(
      context,
      [&]() -> awaitable<int> {
        auto c = wait();
        const int n = co_await c;
        EXPECT_TRUE(c.done());
        co_return n + co_await number(5);
      },
      weft::use_future);
  context.run();
  EXPECT_EQ(future.get(), 9);
}

TEST(callable, one_that_is_started_is_awaited_to_its_end) {
  weft::resume_event<void, weft::sharing::local> go;
  const auto wait = [&]() -> callable<int> {
    co_await go;
    co_return 4;
  };
  auto c = wait();
  c.start();
  const auto add = [&]() -> callable<int> { co_return 1 + co_await c; };
  auto other = add();
  other.start();
  EXPECT_FALSE(other.done());
  go.resume();
  EXPECT_TRUE(c.done());
  ASSERT_TRUE(other.done());
  EXPECT_EQ(other.get(), 5);
}

callable<int> one_more_than(callable<int>& other) {
  co_return co_await other + 1;
}

TEST(callable, many_that_wait_for_each_other_end_without_growing_the_stack) {
  constexpr int many = 200'000;
  weft::resume_event<int, weft::sharing::local> go;
  const auto wait = [&]() -> callable<int> { co_return co_await go; };
  std::vector<callable<int>> chain;
  chain.reserve(many + 1);
  chain.push_back(wait());
  for (int i = 0; i != many; ++i)
    chain.push_back(one_more_than(chain.back()));
  for (auto& c : chain)
    c.start();
  io_context context;
  int last = 0;
  const auto ask = [&]() -> awaitable<void> { last = co_await chain.back(); };
  co_spawn(context, ask, weft::detached);
  context.poll();
  go.resume(1);
  context.run();
  EXPECT_EQ(last, many + 1);
}

TEST(callable, one_that_has_been_waited_for_ends_after_the_waiter_is_gone) {
  weft::resume_event<void, weft::sharing::local> go;
  const auto wait = [&]() -> callable<int> {
    co_await go;
    co_return 4;
  };
  auto c = wait();
  c.start();
  const auto add = [&]() -> callable<int> { co_return 1 + co_await c; };
  {
    auto gone = add();
    gone.start();
  }
  auto other = add();
  other.start();
  EXPECT_TRUE(go.resume());
  ASSERT_TRUE(other.done());
  EXPECT_EQ(other.get(), 5);
}

TEST(callable, is_destroyed_before_the_coroutine_that_waits_for_it) {
  weft::resume_event<void, weft::sharing::local> go;
  const auto wait = [&]() -> callable<int> {
    co_await go;
    co_return 4;
  };
  auto c = std::make_unique<callable<int>>(wait());
  c->start();
  const auto add = [&]() -> callable<int> { co_return 1 + co_await *c; };
  auto other = add();
  other.start();
  c.reset();
  EXPECT_FALSE(other.done());
}

struct noting {
  std::vector<int>& notes;
  int value;
  ~noting() { notes.push_back(value); }
};

TEST(callable, destroyed_before_its_end_it_destroys_the_innermost_first) {
  std::vector<int> notes;
  const auto inner = [&]() -> task<void> {
    const noting n{notes, 1};
    co_await std::suspend_always();
  };
  const auto outer = [&]() -> callable<> {
    const noting n{notes, 2};
    co_await inner();
  };
  {
    auto idle = outer();
    auto c = outer();
    c.start();
    idle = std::move(c);
    EXPECT_TRUE(notes.empty());
  }
  EXPECT_EQ(notes, (std::vector{1, 2}));
}

/// Calls a task that waits by a fiber.
weft::task<int> wait_in(weft::yield_context yield, int turns) {
  for (int i = 0; i != turns; ++i)
    weft::post(yield);
  co_return turns;
}
callable<int> call(weft::yield_context yield, int turns) {
  co_return co_await wait_in(yield, turns) + co_await wait_in(yield, 1);
}

TEST(callable, the_fiber_that_runs_it_may_wait_in_it_while_others_do) {
  weft::io_context context;
  std::vector<int> got;
  for (const int turns : {2, 5, 4})  // the one that ends last is not the first
    weft::spawn(
        context,
        [&, turns](weft::yield_context yield) {
          callable<int> c = call(yield, turns);
          c.start();
          got.push_back(c.get());
        },
        weft::detached);
  context.run();
  EXPECT_EQ(got, (std::vector{3, 5, 6}));
  EXPECT_FALSE(weft::detail::resume_loop::may_call()) << "no loop runs any longer";
}

TEST(callable, the_fiber_that_runs_it_may_change_the_thread_in_it) {
  weft::thread_pool pool(2);
  std::atomic<int> sum{0};
  for (int i = 0; i != 20; ++i)
    weft::spawn(
        pool,
        [&, i](weft::yield_context yield) {
          callable<int> c = call(yield, 50 + i);
          c.start();
          sum += c.get();
        },
        weft::detached);
  for (int i = 0; i != 2000; ++i)
    weft::post(pool, [] {});
  pool.join();
  EXPECT_EQ(sum, 20 * 51 + 190);
}

// ---- misuse

TEST(callable_death, one_is_started_once) {
  expect_assertion(
      [] {
        auto c = number(1);
        c.start();
        c.start();
      },
      "a callable is started once");
  expect_assertion(
      [] {
        auto c = number(1);
        const auto kept = std::move(c);
        c.start();
      },
      "a callable is started once");
}

TEST(callable_death, one_is_resumed_from_its_start_to_its_end) {
  expect_assertion([] { number(1).resume(); }, "is resumed from its start to its end");
  expect_assertion(
      [] {
        auto c = number(1);
        c.start();
        c.resume();
      },
      "is resumed from its start to its end");
}

TEST(callable_death, one_has_no_result_before_its_end) {
  expect_assertion([] { number(1).get(); }, "result is there when it is done");
}

TEST(callable_death, one_is_not_awaited_after_it_has_been_moved_from) {
  expect_assertion(
      [] {
        auto c = number(1);
        const auto kept = std::move(c);
        const auto wait = [&]() -> callable<int> { co_return co_await c; };
        wait().start();
      },
      "awaited after it has been moved from");
}

/// Has two coroutines wait for `c`.
void await_twice(callable<>& c) {
  const auto wait = [&]() -> callable<> { co_await c; };
  auto first = wait();
  auto second = wait();
  first.start();
  second.start();
}

TEST(callable_death, one_is_awaited_by_one_coroutine) {
  const auto suspend = []() -> callable<> { co_await std::suspend_always(); };
  expect_assertion(
      [&] {
        auto c = suspend();
        await_twice(c);
      },
      "a callable is awaited by one coroutine");
  expect_assertion(
      [&] {
        auto c = suspend();
        c.start();
        await_twice(c);
      },
      "a callable is awaited by one coroutine");
}

TEST(callable_death, one_that_a_coroutine_awaits_is_not_started) {
  expect_assertion(
      [] {
        const auto suspend = []() -> callable<> { co_await std::suspend_always(); };
        auto c = suspend();
        const auto wait = [&]() -> callable<> { co_await c; };
        auto waiting = wait();
        waiting.start();
        c.start();
      },
      "unless a coroutine awaits it");
}

}  // namespace
