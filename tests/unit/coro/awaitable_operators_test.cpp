// SPDX-License-Identifier: BSL-1.0
#include <weft/experimental/awaitable_operators.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/sync/future.hpp>
#include <weft/sync/when_all.hpp>
#include <weft/sync/when_any.hpp>

namespace {

using namespace std::chrono_literals;
using namespace weft::experimental::awaitable_operators;
using weft::awaitable;
using weft::co_spawn;
using weft::io_context;
using weft::steady_timer;
namespace this_coro = weft::this_coro;

/// Runs a coroutine to its end; what leaves it leaves this.
template <class F>
void run(io_context& context, F f) {
  std::exception_ptr error;
  bool ended = false;
  co_spawn(context, std::move(f), [&](std::exception_ptr e) {
    error = e;
    ended = true;
  });
  context.run();
  EXPECT_TRUE(ended);
  if (error)
    std::rethrow_exception(error);
}
template <class F>
void run(F f) {
  io_context context;
  run(context, std::move(f));
}

awaitable<int> number(int n) {
  co_await weft::post(co_await this_coro::executor);
  co_return n;
}
awaitable<std::string> text(std::string s) {
  co_return s;
}
awaitable<void> nothing() {
  co_return;
}
awaitable<int> fails(const char* what) {
  co_await weft::post(co_await this_coro::executor);
  throw std::runtime_error(what);
}
/// Waits for ever; counts that it was cancelled.
awaitable<void> forever(int& cancelled) {
  steady_timer timer(co_await this_coro::executor, 1h);
  try {
    co_await timer.async_wait();
  } catch (const weft::system_error&) {
    ++cancelled;
    throw;
  }
}

TEST(awaitable_and, gives_what_is_not_void) {
  run([]() -> awaitable<void> {
    std::tuple<int, std::string> both = co_await (number(1) && text("x"));
    EXPECT_EQ(both, std::make_tuple(1, std::string("x")));
    EXPECT_EQ(co_await (number(2) && nothing()), 2);
    EXPECT_EQ(co_await (nothing() && number(3)), 3);
    co_await (nothing() && nothing());
    std::tuple<int, std::string, int> three = co_await (number(1) && text("x") && number(5));
    EXPECT_EQ(std::get<2>(three), 5);
  });
}

TEST(awaitable_and, the_first_that_fails_cancels_the_other_and_is_thrown) {
  run([]() -> awaitable<void> {
    int cancelled = 0;
    try {
      co_await (forever(cancelled) && fails("no"));
      ADD_FAILURE();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "no");
    }
    EXPECT_EQ(cancelled, 1);
  });
}

TEST(awaitable_and, two_failures_are_multiple_exceptions) {
  run([]() -> awaitable<void> {
    try {
      co_await (fails("first") && fails("second"));
      ADD_FAILURE();
    } catch (const weft::multiple_exceptions& e) {
      try {
        std::rethrow_exception(e.first_exception());
      } catch (const std::runtime_error& first) {
        EXPECT_STREQ(first.what(), "first");
      }
    }
  });
}

TEST(awaitable_or, gives_the_first_and_cancels_the_other) {
  run([]() -> awaitable<void> {
    int cancelled = 0;
    const auto one = co_await (forever(cancelled) || number(7));
    static_assert(std::is_same_v<decltype(one), const std::variant<std::monostate, int>>);
    EXPECT_EQ(std::get<1>(one), 7);
    EXPECT_EQ(cancelled, 1);
    const auto other = co_await (text("x") || forever(cancelled));
    EXPECT_EQ(std::get<0>(other), "x");
    EXPECT_EQ(cancelled, 2);
    const auto three = co_await (forever(cancelled) || forever(cancelled) || number(9));
    static_assert(
        std::is_same_v<decltype(three), const std::variant<std::monostate, std::monostate, int>>);
    EXPECT_EQ(std::get<2>(three), 9);
    const auto second = co_await (forever(cancelled) || number(9) || forever(cancelled));
    EXPECT_EQ(second.index(), 1u);
    EXPECT_EQ(cancelled, 6);
  });
}

TEST(awaitable_or, a_failure_waits_for_the_other) {
  run([]() -> awaitable<void> {
    const auto one = co_await (fails("no") || number(7));
    EXPECT_EQ(one.index(), 1u);
    EXPECT_EQ(std::get<1>(one), 7);
    bool threw = false;
    try {
      co_await (fails("first") || fails("second"));
    } catch (const weft::multiple_exceptions&) {
      threw = true;
    }
    EXPECT_TRUE(threw);
  });
}

TEST(awaitable_operators, take_operations_too) {
  io_context context;
  run(context, [&]() -> awaitable<void> {
    steady_timer timer(context, 1h);
    weft::promise<int> p(context);
    auto f = p.get_future();
    p.set_value(3);
    const auto winner = co_await (timer.async_wait() || std::move(f));
    EXPECT_EQ(std::get<1>(winner), 3);
    timer.expires_after(0s);
    const int n = co_await (number(4) && timer.async_wait());
    EXPECT_EQ(n, 4);
  });
}

TEST(awaitable_operators, are_cancelled_with_who_awaits_them) {
  io_context context;
  weft::cancellation_signal signal;
  int cancelled = 0;
  std::exception_ptr error;
  co_spawn(
      context, [&]() -> awaitable<void> { co_await (forever(cancelled) && forever(cancelled)); },
      weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { error = e; }));
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  context.restart();
  context.run();
  EXPECT_EQ(cancelled, 2);
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
}

TEST(awaitable_operators, a_context_is_destroyed_while_they_wait) {
  const auto object = std::make_shared<int>(1);
  {
    io_context context;
    int cancelled = 0;
    co_spawn(
        context,
        [&, object]() -> awaitable<void> {
          const auto kept = object;
          co_await (forever(cancelled) || forever(cancelled));
        },
        weft::detached);
    context.poll();
    EXPECT_GT(object.use_count(), 1);
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(awaitable_operators, nothing_runs_before_the_result_is_awaited) {
  run([]() -> awaitable<void> {
    bool ran = false;
    auto later = [&ran]() -> awaitable<void> {
      ran = true;
      co_return;
    };
    auto both = later() && nothing();
    co_await weft::post(co_await this_coro::executor);
    EXPECT_FALSE(ran);
    co_await std::move(both);
    EXPECT_TRUE(ran);
  });
}

// ---- awaitables and futures in each other's company

TEST(when_all, awaitables_join_and_run_in_the_executor_of_who_waits) {
  io_context context;
  run(context, [&]() -> awaitable<void> {
    auto [a, b, c] =
        co_await when_all(number(1), fails("no"), weft::async(context, [] { return 3; }));
    EXPECT_EQ(a.get(), 1);
    EXPECT_THROW(b.get(), std::runtime_error);
    EXPECT_EQ(c.get(), 3);
    std::vector<awaitable<int>> many;
    for (int i = 0; i != 10; ++i)
      many.push_back(number(i));
    int sum = 0;
    for (auto& o : co_await when_all(std::move(many)))
      sum += o.get();
    EXPECT_EQ(sum, 45);
  });
}

weft::task<int> sum(int a, int b) {
  co_return co_await number(a) + co_await number(b);
}
weft::task<void> throws() {
  co_await weft::post(co_await this_coro::executor);
  throw std::logic_error("no");
}

TEST(awaitable_operators, take_tasks) {
  run([]() -> awaitable<void> {
    std::tuple<int, int> both = co_await (sum(1, 2) && number(3));
    EXPECT_EQ(both, std::tuple(3, 3));
    const auto either = co_await (throws() || sum(2, 2));
    EXPECT_EQ(std::get<1>(either), 4);
    EXPECT_THROW(co_await (throws() && number(1)), std::logic_error);
  });
}

TEST(when_all, tasks_join_and_are_cancelled_with_who_waits) {
  run([]() -> awaitable<void> {
    std::vector<weft::task<int>> many;
    for (int i = 0; i != 3; ++i)
      many.push_back(sum(i, 1));
    int total = 0;
    for (auto& o : co_await when_all(std::move(many)))
      total += o.get();
    EXPECT_EQ(total, 6);
    int cancelled = 0;
    const auto waiting = [&]() -> weft::task<void> { co_await forever(cancelled); };
    auto [first, outcomes] = co_await when_any(waiting(), sum(2, 3));
    EXPECT_EQ(first, 1u);
    EXPECT_EQ(std::get<1>(outcomes).get(), 5);
    EXPECT_EQ(cancelled, 1);
  });
}

TEST(when_any, of_awaitables_cancels_the_losers) {
  run([]() -> awaitable<void> {
    int cancelled = 0;
    auto [first, outcomes] = co_await when_any(forever(cancelled), number(2));
    EXPECT_EQ(first, 1u);
    EXPECT_EQ(std::get<1>(outcomes).get(), 2);
    EXPECT_EQ(cancelled, 1);
  });
}

TEST(future, is_awaited_in_a_coroutine) {
  io_context context;
  run(context, [&]() -> awaitable<void> {
    weft::promise<int> p;
    auto f = p.get_future();
    weft::post(context, [&] { p.set_value(4); });
    co_await f.async_wait();
    EXPECT_TRUE(f.is_ready());
    EXPECT_EQ(co_await f.async_get(), 4);
    EXPECT_EQ(co_await weft::async(context, [] { return 5; }), 5);
    bool threw = false;
    try {
      co_await weft::async(context, [] { throw std::runtime_error("no"); }).async_get();
    } catch (const std::runtime_error&) {
      threw = true;
    }
    EXPECT_TRUE(threw);
    const auto shared = weft::async(context, [] { return 6; }).share();
    EXPECT_EQ(co_await shared, 6);
    EXPECT_EQ(co_await shared.async_get(), 6);
  });
}

TEST(future, a_coroutine_that_waits_for_it_is_cancelled) {
  io_context context;
  weft::cancellation_signal signal;
  weft::promise<int> p;
  auto f = p.get_future();
  std::exception_ptr error;
  co_spawn(
      context, [&]() -> awaitable<void> { co_await f.async_wait(); },
      weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { error = e; }));
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  context.restart();
  context.run();
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
  p.set_value(3);
  EXPECT_EQ(f.get(), 3);
}

TEST(future, a_context_is_destroyed_while_a_coroutine_waits_for_it) {
  const auto object = std::make_shared<int>(1);
  weft::promise<int> p;
  auto f = p.get_future();
  {
    io_context context;
    co_spawn(
        context,
        [&f, object]() -> awaitable<void> {
          const auto kept = object;
          co_await f.async_wait();
          ADD_FAILURE();
        },
        weft::detached);
    context.poll();
    EXPECT_GT(object.use_count(), 1);
  }
  EXPECT_EQ(object.use_count(), 1);
  p.set_value(1);
}

}  // namespace
