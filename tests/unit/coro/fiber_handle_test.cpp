// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/fiber.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/this_fiber.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/misuse.hpp"

namespace {

using weft::detached;
using weft::fiber;
using weft::io_context;
using weft::yield_context;
using weft_test::expect_assertion;

TEST(fiber_handle, is_joined_in_every_style_before_the_end_and_after) {
  io_context context;
  fiber worker(context, [](yield_context yield) { post(yield); });
  EXPECT_FALSE(worker.has_ended());
  int joined = 0;
  const auto check = [&](std::exception_ptr e) {
    EXPECT_FALSE(e);
    EXPECT_TRUE(worker.has_ended());
    ++joined;
  };
  worker.async_join(check);
  auto future = worker.async_join(weft::use_future);
  spawn(
      context,
      [&](yield_context yield) {
        worker.async_join(yield);
        check(nullptr);
        worker.async_join(yield);
        check(nullptr);
      },
      detached);
  co_spawn(
      context,
      [&]() -> weft::awaitable<void> {
        co_await worker.async_join();
        check(nullptr);
      },
      detached);
  context.run();
  future.get();
  EXPECT_EQ(joined, 4);
}

TEST(fiber_handle, a_join_throws_what_has_left_the_function) {
  io_context context;
  fiber worker(context, [](yield_context) { throw std::runtime_error("no"); });
  int caught = 0;
  spawn(
      context,
      [&](yield_context yield) {
        for (int i = 0; i != 2; ++i)
          try {
            worker.async_join(yield);
          } catch (const std::runtime_error&) {
            ++caught;
          }
      },
      detached);
  context.run();
  EXPECT_EQ(caught, 2);
}

TEST(fiber_handle, cancels_what_its_fiber_waits_for) {
  io_context context;
  fiber worker(context, [&](yield_context yield) {
    weft::steady_timer never(context, weft::steady_timer::time_point::max());
    never.async_wait(yield);
  });
  std::exception_ptr error;
  worker.async_join([&](std::exception_ptr e) { error = e; });
  context.poll();
  EXPECT_FALSE(error);
  worker.cancel();
  context.run();
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
  worker.cancel();
}

TEST(fiber_handle, a_join_is_cancelled_by_its_own_slot) {
  io_context context;
  weft::steady_timer gate(context, weft::steady_timer::time_point::max());
  bool ended = false;
  fiber worker(context, [&](yield_context yield) {
    weft::error_code ec;
    gate.async_wait(yield[ec]);
    ended = true;
  });
  weft::cancellation_signal signal;
  std::exception_ptr error;
  worker.async_join(
      bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { error = e; }));
  context.poll();
  signal.emit(weft::cancellation_type::total);
  context.poll();
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
  EXPECT_FALSE(ended);
  gate.cancel();
  context.run();
  EXPECT_TRUE(ended);
}

TEST(fiber_handle, that_is_destroyed_leaves_the_fiber_alone_and_aborts_who_waits) {
  io_context context;
  bool ended = false;
  std::exception_ptr error;
  {
    fiber worker(context, [&](yield_context yield) {
      post(yield);
      ended = true;
    });
    fiber moved(std::move(worker));
    moved.async_join([&](std::exception_ptr e) { error = e; });
  }
  context.run();
  EXPECT_TRUE(ended);
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
}

TEST(fiber_handle, outlives_the_context_of_its_fiber) {
  io_context waiting;
  std::unique_ptr<fiber> worker;
  std::exception_ptr error;
  {
    io_context context;
    worker = std::make_unique<fiber>(context, [&](yield_context yield) {
      weft::steady_timer never(context, weft::steady_timer::time_point::max());
      never.async_wait(yield);
    });
    worker->async_join(bind_executor(waiting, [&](std::exception_ptr e) { error = e; }));
    context.poll();
  }
  EXPECT_TRUE(worker->has_ended());
  worker->cancel();
}

TEST(fiber_handle, is_joined_from_other_threads) {
  weft::thread_pool pool(4);
  std::atomic<int> joined{0};
  for (int i = 0; i != 100; ++i)
    spawn(
        pool,
        [&](yield_context yield) {
          fiber worker(yield.get_executor(), [](yield_context y) { y.yield(); });
          worker.async_join(yield);
          ++joined;
        },
        detached);
  pool.join();
  EXPECT_EQ(joined, 100);
}

TEST(this_fiber, tells_fibers_apart) {
  io_context context;
  EXPECT_EQ(weft::this_fiber::get_id(), nullptr);
  EXPECT_EQ(weft::this_fiber::stack_left(), 0u);
  EXPECT_EQ(weft::this_fiber::where_spawned().line(), 0u);
  weft::this_fiber::id first = nullptr, second = nullptr;
  unsigned line = 0;
  spawn(
      context,
      [&](yield_context yield) {
        first = weft::this_fiber::get_id();
        yield.yield();
        EXPECT_EQ(weft::this_fiber::get_id(), first);
      },
      detached);
  spawn(
      context,
      [&](yield_context) {
        second = weft::this_fiber::get_id();
        line = weft::this_fiber::where_spawned().line();
      },
      detached, std::source_location::current());
  context.run();
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_NE(first, second);
  EXPECT_NE(line, 0u);
}

TEST(fiber_handle_death, one_that_has_been_moved_from_has_no_fiber) {
  expect_assertion(
      [] {
        io_context context;
        fiber worker(context, [](yield_context) {});
        const fiber kept(std::move(worker));
        worker.has_ended();
      },
      "is used that has been moved from");
}

}  // namespace
