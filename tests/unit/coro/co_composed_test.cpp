// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/co_composed.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/io/steady_timer.hpp>

#include "unit/support/counting_allocator.hpp"

namespace {

using weft::as_tuple;
using weft::co_composed;
using weft::error_code;
using weft::io_context;
using weft::steady_timer;

/// Waits `times` times, and tells how often.
template <class Token>
auto async_wait_often(steady_timer& timer, int times, Token&& token) {
  return weft::async_initiate<Token, void(error_code, int)>(
      co_composed<void(error_code, int)>(
          [](auto state, steady_timer& t, int n) -> void {
            for (int i = 0; i != n; ++i) {
              t.expires_after(std::chrono::milliseconds(1));
              const auto [ec] = co_await t.async_wait(as_tuple);
              if (ec)
                co_yield state.complete(ec, i);
            }
            co_return {error_code(), n};
          },
          timer),
      token, std::ref(timer), times);
}

TEST(co_composed, completes_with_what_its_coroutine_returns) {
  io_context context;
  steady_timer timer(context);
  std::optional<int> times;
  async_wait_often(timer, 3, [&](error_code ec, int n) {
    EXPECT_FALSE(ec);
    times = n;
  });
  EXPECT_FALSE(times);
  context.run();
  EXPECT_EQ(times, 3);
}

TEST(co_composed, completes_with_what_it_yields_and_is_destroyed_there) {
  io_context context;
  steady_timer timer(context);
  std::optional<int> times;
  error_code error;
  async_wait_often(timer, 3, [&](error_code ec, int n) {
    error = ec;
    times = n;
  });
  timer.cancel();
  context.run();
  EXPECT_EQ(error, weft::error::operation_aborted);
  EXPECT_EQ(times, 0);
}

TEST(co_composed, serves_every_token) {
  io_context context;
  steady_timer timer(context);
  auto future = async_wait_often(timer, 2, weft::use_future);
  context.run();
  EXPECT_EQ(future.get(), 2);
  context.restart();
  auto in_coroutine = co_spawn(
      context,
      [&]() -> weft::awaitable<int> {
        co_return co_await async_wait_often(timer, 2, weft::deferred);
      },
      weft::use_future);
  context.run();
  EXPECT_EQ(in_coroutine.get(), 2);
}

template <class Token>
auto async_at_once(io_context& context, int waits, Token&& token) {
  return weft::async_initiate<Token, void(int)>(co_composed<void(int)>(
                                                    [](auto, int n) -> void {
                                                      for (int i = 0; i != n; ++i)
                                                        co_await weft::deferred.values(i);
                                                      co_return {n};
                                                    },
                                                    context),
                                                token, waits);
}

TEST(co_composed, one_that_ends_in_its_initiating_function_calls_no_handler_there) {
  io_context context;
  for (const int waits : {0, 3, 100}) {
    bool called = false;
    async_at_once(context, waits, [&](int n) {
      EXPECT_EQ(n, waits);
      called = true;
    });
    EXPECT_FALSE(called);
    context.run();
    context.restart();
    EXPECT_TRUE(called);
  }
}

TEST(co_composed, may_complete_with_nothing_or_with_one_of_several_signatures) {
  io_context context;
  bool called = false;
  const auto nothing = co_composed<void()>(
      [](auto state) -> void { co_await weft::post(state.get_io_executor()); }, context);
  weft::async_initiate<void (*)(), void()>(
      nothing, *[]() -> void (**)() {
        static void (*f)() = [] {};
        return &f;
      }());
  context.run();
  context.restart();

  struct handler {
    std::string& heard;
    void operator()(int n) const { heard += std::to_string(n); }
    void operator()(std::string s) const { heard += s; }
  };
  std::string heard;
  const auto either = [&](bool first, auto&& token) {
    return weft::async_initiate<decltype(token), void(int), void(std::string)>(
        co_composed<void(int), void(std::string)>(
            [](auto state, bool number) -> void {
              co_await weft::post(state.get_io_executor());
              if (number)
                co_yield state.complete(1);
              co_return std::tuple<std::string>("two");
            },
            context),
        token, first);
  };
  either(true, handler{heard});
  either(false, handler{heard});
  context.run();
  EXPECT_EQ(heard, "1two");
  EXPECT_FALSE(called);
}

TEST(co_composed, goes_on_in_the_handlers_executor) {
  io_context context;
  weft::thread_pool pool(1);
  const auto strand = weft::make_strand(context);
  int inside = 0;
  const auto start = [&](auto&& token) {
    return weft::async_initiate<decltype(token), void()>(
        co_composed<void()>(
            [](auto, auto own, weft::thread_pool& other, int& count) -> void {
              co_await weft::post([] {}, other);
              count += own.running_in_this_thread();
            },
            context),
        token, strand, std::ref(pool), std::ref(inside));
  };
  start(weft::bind_executor(strand, [&] { inside += strand.running_in_this_thread(); }));
  context.run();
  EXPECT_EQ(inside, 2);
}

TEST(co_composed, its_slot_cancels_what_it_awaits) {
  io_context context;
  steady_timer timer(context);
  weft::cancellation_signal signal;
  error_code error;
  weft::cancellation_type seen = weft::cancellation_type::none;
  const auto start = [&](auto&& token) {
    return weft::async_initiate<decltype(token), void(error_code)>(
        co_composed<void(error_code)>(
            [](auto state, steady_timer& t, weft::cancellation_type& type) -> void {
              try {
                state.throw_if_cancelled(true);
                state.reset_cancellation_state(weft::enable_total_cancellation());
                t.expires_after(std::chrono::hours(1));
                co_await t.async_wait(as_tuple);
                type = state.cancelled();
                co_await t.async_wait(as_tuple);
              } catch (const weft::system_error& e) {
                co_return {e.code()};
              }
              co_return {error_code()};
            },
            timer),
        token, std::ref(timer), std::ref(seen));
  };
  start(weft::bind_cancellation_slot(signal.slot(), [&](error_code ec) { error = ec; }));
  context.poll();
  signal.emit(weft::cancellation_type::total);
  context.run();
  EXPECT_EQ(seen, weft::cancellation_type::total);
  EXPECT_EQ(error, weft::error::operation_aborted);
}

TEST(co_composed, its_memory_is_the_handlers_and_goes_back_before_the_call) {
  io_context context;
  weft_test::allocation_counts memory;
  steady_timer timer(context);
  bool called = false;
  async_wait_often(
      timer, 2,
      weft::bind_allocator(weft_test::counting_allocator<int>(memory), [&](error_code, int) {
        EXPECT_EQ(memory.blocks, 0u);
        called = true;
      }));
  EXPECT_GE(memory.blocks, 2u) << "the frame, and the wait";
  context.run();
  EXPECT_TRUE(called);
}

TEST(co_composed, a_context_that_ends_destroys_the_handler_uncalled) {
  const auto object = std::make_shared<int>(1);
  {
    io_context context;
    steady_timer timer(context);
    async_wait_often(timer, 2, [object](error_code, int) { FAIL(); });
    EXPECT_EQ(object.use_count(), 2);
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(co_composed, what_leaves_it_leaves_run) {
  io_context context;
  const auto object = std::make_shared<int>(1);
  const auto start = [&](bool waits, auto&& token) {
    return weft::async_initiate<decltype(token), void()>(
        co_composed<void()>(
            [](auto state, bool first) -> void {
              if (first)
                co_await weft::post(state.get_io_executor());
              throw std::runtime_error("no");
              co_return;
            },
            context),
        token, waits);
  };
  start(true, [object] { FAIL(); });
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_THROW(start(false, [object] { FAIL(); }), std::runtime_error);
  EXPECT_EQ(object.use_count(), 1);
}

}  // namespace
