// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/blocking.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/spawn.hpp>

#include "unit/coro/all_threads_busy.hpp"

namespace {

using weft::blocking;
using weft::detached;
using weft::io_context;
using weft::yield_context;
using weft_test::all_threads_busy;

TEST(blocking, runs_elsewhere_and_completes_in_the_executor_of_the_handler) {
  io_context context;
  const auto here = std::this_thread::get_id();
  int result = 0;
  blocking(
      context,
      [&] {
        EXPECT_NE(std::this_thread::get_id(), here);
        return 7;
      },
      [&](std::exception_ptr e, int n) {
        EXPECT_FALSE(e);
        EXPECT_EQ(std::this_thread::get_id(), here);
        result = n;
      });
  context.run();
  EXPECT_EQ(result, 7);
}

TEST(blocking, may_be_waited_for_in_every_style) {
  io_context context;
  int fiber = 0, coroutine = 0;
  bool nothing = false;
  spawn(
      context,
      [&](yield_context yield) {
        fiber = blocking([] { return 1; }, yield);
        blocking([&] { nothing = true; }, yield);
        EXPECT_TRUE(nothing);
      },
      detached);
  co_spawn(
      context, [&]() -> weft::awaitable<void> { coroutine = co_await blocking([] { return 2; }); },
      detached);
  auto future = blocking([] { return std::make_unique<int>(3); }, weft::use_future);
  context.run();
  EXPECT_EQ(fiber, 1);
  EXPECT_EQ(coroutine, 2);
  EXPECT_EQ(*future.get(), 3);
}

TEST(blocking, what_leaves_the_call_is_thrown_by_the_wait) {
  io_context context;
  int caught = 0;
  spawn(
      context,
      [&](yield_context yield) {
        try {
          blocking([]() -> int { throw std::runtime_error("no"); }, yield);
        } catch (const std::runtime_error&) {
          ++caught;
        }
        try {
          blocking([] { throw std::logic_error("no"); }, yield);
        } catch (const std::logic_error&) {
          ++caught;
        }
      },
      detached);
  context.run();
  EXPECT_EQ(caught, 2);
}

TEST(blocking, calls_that_wait_for_each_other_all_run) {
  io_context context;
  constexpr int count = 40;
  std::atomic<int> begun{0};
  int ended = 0;
  for (int i = 0; i != count; ++i)
    blocking(
        context,
        [&] {
          ++begun;
          while (begun != count)
            std::this_thread::yield();
        },
        [&](std::exception_ptr) { ++ended; });
  context.run();
  EXPECT_EQ(ended, count);
}

TEST(blocking, a_call_that_has_begun_finishes_although_it_is_cancelled) {
  io_context context;
  weft::cancellation_signal signal;
  std::promise<void> begun, cancelled;
  int result = 0;
  blocking(
      context,
      [&] {
        begun.set_value();
        cancelled.get_future().wait();
        return 5;
      },
      bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e, int n) {
        EXPECT_FALSE(e);
        result = n;
      }));
  begun.get_future().wait();
  signal.emit(weft::cancellation_type::terminal);
  cancelled.set_value();
  context.run();
  EXPECT_EQ(result, 5);
}

TEST(blocking, the_end_of_a_context_waits_for_what_has_begun) {
  std::promise<void> begun;
  std::atomic<bool> finished{false};
  bool destroyed = false;
  const auto mark = [&](bool*) { destroyed = true; };
  {
    io_context context;
    blocking(
        context,
        [&] {
          begun.set_value();
          for (int i = 0; i != 1000; ++i)
            std::this_thread::yield();
          finished = true;
        },
        [m = std::unique_ptr<bool, decltype(mark)>(&destroyed, mark)](std::exception_ptr) {
          ADD_FAILURE() << "called";
        });
    begun.get_future().wait();
  }
  EXPECT_TRUE(finished);
  EXPECT_TRUE(destroyed);
}

TEST(blocking, a_call_that_has_not_begun_is_cancelled_or_destroyed_at_once) {
  io_context busy;
  bool cancelled = false, destroyed = false;
  all_threads_busy threads(busy);
  {
    io_context context;
    weft::cancellation_signal signal;
    blocking(
        context, [] { ADD_FAILURE() << "begun"; },
        bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
          EXPECT_THROW(std::rethrow_exception(e), weft::system_error);
          cancelled = true;
        }));
    EXPECT_EQ(context.poll(), 0u);
    signal.emit(weft::cancellation_type::total);
    context.run();
    context.restart();

    const auto mark = [&](bool*) { destroyed = true; };
    spawn(
        context,
        [&](yield_context yield) {
          const std::unique_ptr<bool, decltype(mark)> m(&destroyed, mark);
          blocking([] { ADD_FAILURE() << "begun"; }, yield);
        },
        detached);
    context.poll();
  }
  EXPECT_TRUE(cancelled);
  EXPECT_TRUE(destroyed);
  threads.release();
  busy.run();
}

}  // namespace
