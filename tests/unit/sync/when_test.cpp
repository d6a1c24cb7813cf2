// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/async_initiate.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/deferred.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable_operation.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/experimental/parallel_group.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/sync/future.hpp>
#include <weft/sync/when_all.hpp>
#include <weft/sync/when_any.hpp>
#include <weft/sync/when_some.hpp>

namespace {

using namespace std::chrono_literals;
using weft::error_code;
using weft::future;
using weft::io_context;
using weft::outcome;
using weft::promise;
using weft::steady_timer;
using weft::when_all;
using weft::when_any;
using weft::when_some;
namespace experimental = weft::experimental;
const error_code aborted = weft::error::operation_aborted;

template <class Outcome>
error_code code_of(const Outcome& o) {
  if (!o.has_error())
    return {};
  try {
    std::rethrow_exception(o.error());
  } catch (const weft::system_error& e) {
    return e.code();
  } catch (...) {
    return weft::error::not_found;
  }
}

// ---- outcome

TEST(outcome, is_empty_a_value_or_an_exception) {
  outcome<std::string> o;
  EXPECT_FALSE(o.has_value() || o.has_error());
  o.set_value("x");
  EXPECT_TRUE(o);
  EXPECT_EQ(o.get(), "x");
  outcome<std::string> copy = o;
  outcome<std::string> moved = std::move(o);
  EXPECT_EQ(copy.get(), moved.get());
  outcome<std::string> failed;
  failed.set_error(std::make_exception_ptr(std::runtime_error("no")));
  copy = failed;
  EXPECT_THROW(copy.get(), std::runtime_error);
  copy = std::move(moved);
  EXPECT_EQ(std::move(copy).get(), "x");
  outcome<void> nothing;
  nothing.set_value();
  nothing.get();
  int object = 0;
  outcome<int&> reference;
  reference.set_value(object);
  EXPECT_EQ(&reference.get(), &object);
}

// ---- when_all

TEST(when_all, keeps_the_outcome_of_every_operation) {
  io_context context;
  promise<int> p(context);
  promise<void> fails(context);
  steady_timer timer(context, 0s);
  bool called = false;
  when_all(p.get_future(), fails.get_future(), timer.async_wait(),
           weft::post(context))([&](auto outcomes) {
    auto& [value, failure, wait, posted] = outcomes;
    EXPECT_EQ(value.get(), 4);
    EXPECT_THROW(failure.get(), std::runtime_error);
    EXPECT_TRUE(wait.has_value());
    EXPECT_TRUE(posted.has_value());
    called = true;
  });
  p.set_value(4);
  fails.set_exception(std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
}

TEST(when_all, an_error_code_makes_a_failure) {
  io_context context;
  steady_timer timer(context, 1h);
  bool called = false;
  when_all(timer.async_wait())([&](std::tuple<outcome<void>> outcomes) {
    EXPECT_EQ(code_of(std::get<0>(outcomes)), aborted);
    called = true;
  });
  timer.cancel();
  context.run();
  EXPECT_TRUE(called);
}

TEST(when_all, of_nothing_completes_at_once_but_not_inside) {
  io_context context;
  int called = 0;
  when_all()(weft::bind_executor(context.get_executor(), [&](std::tuple<>) { ++called; }));
  std::vector<future<int>> none;
  when_all(std::move(none))(weft::bind_executor(
      context.get_executor(), [&](const std::vector<outcome<int>>& o) { called += o.empty(); }));
  EXPECT_EQ(called, 0);
  context.run();
  EXPECT_EQ(called, 2);
}

TEST(when_all, of_a_range_gives_a_vector) {
  io_context context;
  std::vector<promise<int>> promises(3);
  std::vector<future<int>> futures;
  for (auto& p : promises)
    futures.push_back(p.get_future());
  int sum = 0;
  when_all(std::move(futures))(
      weft::bind_executor(context.get_executor(), [&](std::vector<outcome<int>> outcomes) {
        EXPECT_EQ(outcomes.size(), 3u);
        EXPECT_FALSE(outcomes[1]);
        sum = outcomes[0].get() + 10 * outcomes[2].get();
      }));
  promises[2].set_value(2);
  promises[0].set_value(1);
  promises[1].set_exception(std::make_exception_ptr(1));
  context.run();
  EXPECT_EQ(sum, 21);
}

TEST(when_all, what_completes_inside_its_initiation_does_not_call_the_handler_inside) {
  io_context context;
  bool called = false;
  when_all(weft::deferred_t::values(1), weft::deferred_t::values(std::string("x")))(
      weft::bind_executor(context.get_executor(), [&](auto outcomes) {
        EXPECT_EQ(std::get<0>(outcomes).get(), 1);
        EXPECT_EQ(std::get<1>(outcomes).get(), "x");
        called = true;
      }));
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
}

TEST(when_all, takes_tokens) {
  io_context context;
  auto f = when_all(weft::async(context, [] { return 1; }))(weft::use_future);
  context.run();
  EXPECT_EQ(std::get<0>(f.get()).get(), 1);
}

TEST(when_all, a_request_to_cancel_reaches_all) {
  io_context context;
  steady_timer first(context, 1h);
  steady_timer second(context, 1h);
  weft::cancellation_signal signal;
  int cancelled = 0;
  when_all(first.async_wait(),
           second.async_wait())(weft::bind_cancellation_slot(signal.slot(), [&](auto outcomes) {
    cancelled += code_of(std::get<0>(outcomes)) == aborted;
    cancelled += code_of(std::get<1>(outcomes)) == aborted;
  }));
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_EQ(cancelled, 0);
  context.run();
  EXPECT_EQ(cancelled, 2);
  signal.emit(weft::cancellation_type::all);
}

// ---- when_any, when_some

TEST(when_any, the_first_cancels_the_others_and_all_are_awaited) {
  io_context context;
  steady_timer slow(context, 1h);
  promise<int> p(context);
  bool called = false;
  when_any(slow.async_wait(), p.get_future())([&](std::size_t first, auto outcomes) {
    EXPECT_EQ(first, 1u);
    EXPECT_EQ(code_of(std::get<0>(outcomes)), aborted);
    EXPECT_EQ(std::get<1>(outcomes).get(), 2);
    called = true;
  });
  p.set_value(2);
  context.run();
  EXPECT_TRUE(called);
}

TEST(when_any, a_loser_that_had_completed_keeps_its_result) {
  io_context context;
  promise<int> first(context);
  promise<int> second(context);
  bool called = false;
  when_any(first.get_future(), second.get_future())([&](std::size_t winner, auto outcomes) {
    EXPECT_EQ(winner, 1u);
    EXPECT_EQ(std::get<0>(outcomes).get(), 1);
    EXPECT_EQ(std::get<1>(outcomes).get(), 2);
    called = true;
  });
  second.set_value(2);
  first.set_value(1);
  context.run();
  EXPECT_TRUE(called);
}

TEST(when_any, of_ranges_and_of_nothing) {
  io_context context;
  std::vector<promise<int>> promises(3);
  std::vector<future<int>> futures;
  for (auto& p : promises)
    futures.push_back(p.get_future());
  std::vector<error_code> codes;
  when_any(std::move(futures))(weft::bind_executor(
      context.get_executor(), [&](std::size_t first, const std::vector<outcome<int>>& outcomes) {
        EXPECT_EQ(first, 1u);
        for (const auto& o : outcomes)
          codes.push_back(code_of(o));
      }));
  promises[1].set_value(1);
  context.run();
  EXPECT_EQ(codes, (std::vector<error_code>{aborted, {}, aborted}));

  int called = 0;
  when_any()(
      weft::bind_executor(context.get_executor(), [&](std::size_t, std::tuple<>) { ++called; }));
  when_any(std::vector<future<int>>())(
      weft::bind_executor(context.get_executor(), [&](std::size_t n, auto) { called += n == 0; }));
  context.restart();
  context.run();
  EXPECT_EQ(called, 2);
}

TEST(when_some, waits_for_so_many_and_tells_the_order) {
  io_context context;
  std::vector<promise<int>> promises;
  std::vector<future<int>> futures;
  for (int i = 0; i != 4; ++i)
    futures.push_back(promises.emplace_back(context).get_future());
  std::vector<std::size_t> order;
  int succeeded = 0;
  when_some(2, std::move(futures))([&](std::vector<std::size_t> o, auto outcomes) {
    order = std::move(o);
    for (auto& each : outcomes)
      succeeded += each.has_value();
  });
  promises[3].set_value(1);
  context.poll();
  promises[1].set_value(1);
  context.restart();
  context.run();
  ASSERT_EQ(order.size(), 4u);
  EXPECT_EQ(order[0], 3u);
  EXPECT_EQ(order[1], 1u);
  EXPECT_EQ(succeeded, 2);
}

TEST(when_some, more_than_there_are_cancels_nothing) {
  io_context context;
  bool called = false;
  auto first = weft::async(context, [] { return 1; });
  auto second = weft::async(context, [] { return 2; });
  when_some(5, std::move(first),
            std::move(second))([&](const std::vector<std::size_t>& order, auto outcomes) {
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1}));
    called = std::get<0>(outcomes).has_value() && std::get<1>(outcomes).has_value();
  });
  context.run();
  EXPECT_TRUE(called);
}

// ---- parallel_group

TEST(parallel_group, gives_the_order_and_all_results) {
  io_context context;
  steady_timer slow(context, 1h);
  promise<int> p(context);
  bool called = false;
  experimental::make_parallel_group(slow.async_wait(weft::deferred), p.get_future())
      .async_wait(experimental::wait_for_one(), [&](std::array<std::size_t, 2> order, error_code ec,
                                                    std::exception_ptr e, int n) {
        EXPECT_EQ(order, (std::array<std::size_t, 2>{1, 0}));
        EXPECT_EQ(ec, aborted);
        EXPECT_FALSE(e);
        EXPECT_EQ(n, 5);
        called = true;
      });
  p.set_value(5);
  context.run();
  EXPECT_TRUE(called);
}

template <class Condition>
std::vector<error_code> wait_for_timers(Condition condition, bool first_fails) {
  io_context context;
  steady_timer timers[] = {steady_timer(context, 0s), steady_timer(context, 1h),
                           steady_timer(context, 1h)};
  std::vector<error_code> seen;
  experimental::make_parallel_group(timers[0].async_wait(), timers[1].async_wait(),
                                    timers[2].async_wait())
      .async_wait(condition, [&](std::array<std::size_t, 3>, error_code a, error_code b,
                                 error_code c) { seen = {a, b, c}; });
  if (first_fails)
    timers[0].cancel();
  context.poll();
  if (seen.empty()) {
    timers[1].expires_at(steady_timer::time_point::min());
    timers[2].cancel();
  }
  context.restart();
  context.run();
  return seen;
}

TEST(parallel_group, conditions_look_at_the_error) {
  using codes = std::vector<error_code>;
  const error_code ok;
  EXPECT_EQ(wait_for_timers(experimental::wait_for_one_success(), false),
            (codes{ok, aborted, aborted}));
  EXPECT_EQ(wait_for_timers(experimental::wait_for_one_error(), true),
            (codes{aborted, aborted, aborted}));
  EXPECT_EQ(
      wait_for_timers(experimental::wait_for_one_success(weft::cancellation_type::total), false),
      (codes{ok, aborted, aborted}));
  EXPECT_EQ(wait_for_timers(experimental::wait_for_one(weft::cancellation_type::none), true),
            (codes{aborted, aborted, aborted}));
}

TEST(parallel_group, a_condition_that_throws_does_not_keep_the_group_from_ending) {
  io_context context;
  steady_timer first(context, 0s);
  steady_timer second(context, 0s);
  int called = 0;
  experimental::make_parallel_group(first.async_wait(), second.async_wait())
      .async_wait([](error_code) -> weft::cancellation_type { throw std::runtime_error("no"); },
                  [&](std::array<std::size_t, 2>, error_code a, error_code b) {
                    EXPECT_FALSE(a);
                    EXPECT_FALSE(b);
                    ++called;
                  });
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_EQ(called, 0);
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(context.run(), 0U);
}

/// A result whose moves throw, when as many have been as are allowed.
class heavy_result {
 public:
  heavy_result() = default;
  heavy_result(heavy_result&&) {
    if (moves_left-- == 0)
      throw std::runtime_error("too heavy");
  }

  static inline int moves_left = -1;
};

/// An operation that gives one, behind other results.
template <class... Results>
auto async_lift(io_context& context) {
  return weft::async_initiate<const weft::deferred_t, void(Results..., heavy_result)>(
      [&context](auto handler) {
        weft::post(context, [h = std::move(handler)]() mutable {
          std::move(h)(Results()..., heavy_result());
        });
      },
      weft::deferred);
}

/// Starts a group again and again, and has another move of a result throw each time: it leaves
/// poll(), once, and the handler is not called. Returns how many moves there are.
template <class Start>
int each_move_throws(io_context& context, Start start) {
  for (int n = 0; n != 100; ++n) {
    SCOPED_TRACE(n);
    heavy_result::moves_left = n;
    const auto called = std::make_shared<bool>(false);
    start([called](auto&&...) { *called = true; });
    int exceptions = 0;
    for (bool is_done = false; !is_done;) {
      try {
        context.restart();
        context.poll();
        is_done = true;
      } catch (const std::runtime_error&) {
        ++exceptions;
      }
    }
    const bool has_thrown = std::exchange(heavy_result::moves_left, -1) < 0;
    EXPECT_EQ(called.use_count(), 1) << "the group has not ended";
    EXPECT_NE(*called, has_thrown);
    EXPECT_EQ(exceptions, has_thrown);
    if (!has_thrown)
      return n;
  }
  return 0;
}

TEST(parallel_group, a_result_that_is_lost_cancels_the_others_and_is_thrown_once_for_the_handler) {
  io_context context;
  steady_timer timer(context, 1h);
  const auto start = [&](auto handler) {
    experimental::make_parallel_group(async_lift(context), timer.async_wait())
        .async_wait(experimental::wait_for_one(), std::move(handler));
  };
  EXPECT_EQ(each_move_throws(context, start), 1);
}

TEST(parallel_group, of_a_range_ends_once_whichever_move_of_a_result_throws) {
  io_context context;
  const auto start = [&](auto handler) {
    std::vector<decltype(async_lift(context))> lifts;
    for (int i = 0; i != 2; ++i)
      lifts.push_back(async_lift(context));
    experimental::make_parallel_group(std::move(lifts))
        .async_wait(experimental::wait_for_all(), std::move(handler));
  };
  EXPECT_GE(each_move_throws(context, start), 2);
}

TEST(parallel_group, what_moving_a_result_throws_is_the_exception_of_its_operation) {
  io_context context;
  bool called = false;
  heavy_result::moves_left = 0;
  experimental::make_parallel_group(async_lift<std::exception_ptr>(context))
      .async_wait(experimental::wait_for_all(),
                  [&](std::array<std::size_t, 1>, std::exception_ptr error, const heavy_result&) {
                    EXPECT_THROW(std::rethrow_exception(error), std::runtime_error);
                    called = true;
                  });
  context.run();
  EXPECT_TRUE(called);
  heavy_result::moves_left = -1;
}

/// An operation that does `before_start(handler)` first.
template <class F>
auto async_prepared(io_context& context, F before_start) {
  return weft::async_initiate<const weft::deferred_t, void(error_code)>(
      [&context, before_start](auto handler) {
        before_start(handler);
        weft::post(context, [h = std::move(handler)]() mutable { std::move(h)(error_code()); });
      },
      weft::deferred);
}

TEST(parallel_group, what_a_cancellation_remembered_throws_is_thrown_once_for_the_handler) {
  io_context context;
  weft::cancellation_signal signal;
  const auto called = std::make_shared<bool>(false);
  int requests = 0;
  const auto cancels = [&](auto&) { signal.emit(weft::cancellation_type::total); };
  const auto throws = [&](auto& handler) {
    weft::get_associated_cancellation_slot(handler).assign([&](weft::cancellation_type) {
      ++requests;
      throw std::runtime_error("not me");
    });
  };
  experimental::make_parallel_group(async_prepared(context, cancels),
                                    async_prepared(context, throws),
                                    async_prepared(context, throws))
      .async_wait(
          experimental::wait_for_all(),
          weft::bind_cancellation_slot(signal.slot(), [called](auto&&...) { *called = true; }));
  EXPECT_EQ(requests, 2);
  EXPECT_THROW(context.run(), std::runtime_error);
  context.run();
  EXPECT_FALSE(*called);
  EXPECT_EQ(called.use_count(), 1);
}

TEST(parallel_group, one_that_cannot_be_started_is_the_failure_whatever_cancelling_throws) {
  io_context context;
  const auto called = std::make_shared<bool>(false);
  const auto throws = [](auto& handler) {
    weft::get_associated_cancellation_slot(handler).assign(
        [](weft::cancellation_type) { throw std::logic_error("not me"); });
  };
  const auto fails = [](auto&) { throw std::runtime_error("cannot start"); };
  EXPECT_THROW(
      experimental::make_parallel_group(async_prepared(context, throws),
                                        async_prepared(context, fails))
          .async_wait(experimental::wait_for_all(), [called](auto&&...) { *called = true; }),
      std::runtime_error);
  context.run();
  EXPECT_FALSE(*called);
  EXPECT_EQ(called.use_count(), 1);
}

TEST(parallel_group, of_a_range_gives_a_vector_for_each_result) {
  io_context context;
  std::vector<promise<int>> promises(3);
  std::vector<future<int>> futures;
  for (auto& p : promises)
    futures.push_back(p.get_future());
  bool called = false;
  experimental::make_parallel_group(std::move(futures))
      .async_wait(
          experimental::wait_for_all(),
          weft::bind_executor(context.get_executor(),
                              [&](std::vector<std::size_t> order,
                                  std::vector<std::exception_ptr> errors, std::vector<int> values) {
                                EXPECT_EQ(order, (std::vector<std::size_t>{2, 0, 1}));
                                EXPECT_EQ(errors, std::vector<std::exception_ptr>(3));
                                EXPECT_EQ(values, (std::vector<int>{0, 10, 20}));
                                called = true;
                              }));
  promises[2].set_value(20);
  promises[0].set_value(0);
  promises[1].set_value(10);
  context.run();
  EXPECT_TRUE(called);
}

TEST(parallel_group, of_an_empty_range_completes_at_once) {
  io_context context;
  bool called = false;
  experimental::make_parallel_group(std::allocator_arg, std::allocator<int>(),
                                    std::vector<future<void>>())
      .async_wait(experimental::wait_for_all(),
                  weft::bind_executor(context.get_executor(),
                                      [&](const std::vector<std::size_t>& order,
                                          const std::vector<std::exception_ptr>& errors) {
                                        called = order.empty() && errors.empty();
                                      }));
  EXPECT_FALSE(called);
  context.run();
  EXPECT_TRUE(called);
}

// ---- destruction, exceptions, threads

TEST(when_all, a_context_is_destroyed_with_a_group_pending) {
  const auto object = std::make_shared<int>(1);
  promise<int> p;
  weft::cancellation_signal signal;  // outlives what has its slot
  {
    io_context context;
    steady_timer timer(context, 1h);
    when_all(timer.async_wait(), p.get_future())(weft::bind_cancellation_slot(
        signal.slot(),
        weft::bind_executor(context.get_executor(), [object](auto) { ADD_FAILURE(); })));
    context.poll();
    EXPECT_EQ(object.use_count(), 2);
  }
  EXPECT_EQ(object.use_count(), 1);
  p.set_value(1);
}

TEST(when_all, an_initiation_that_throws_cancels_what_was_started) {
  io_context context;
  steady_timer timer(context, 1h);
  const auto object = std::make_shared<int>(1);
  const auto refuses = [](auto&& token) {
    return weft::async_initiate<decltype(token), void()>(
        [](auto&&) { throw std::runtime_error("no"); }, token);
  };
  EXPECT_THROW(when_all(timer.async_wait(), refuses)([object](auto) { ADD_FAILURE(); }),
               std::runtime_error);
  context.run();
  EXPECT_EQ(object.use_count(), 1);
}

TEST(when_all, an_initiation_that_throws_lets_the_coroutine_that_waits_go_on) {
  io_context context;
  const auto refuses = [](auto&& token) {
    return weft::async_initiate<decltype(token), void()>(
        [](auto&&) { throw std::runtime_error("no"); }, token);
  };
  int steps = 0;
  weft::co_spawn(
      context,
      [&]() -> weft::awaitable<void> {
        steady_timer timer(context, 1h);
        try {
          co_await when_all(timer.async_wait(), refuses);
        } catch (const std::runtime_error&) {
          ++steps;
        }
        for (int i = 0; i != 3; ++i, ++steps)
          co_await weft::post(context);
      },
      weft::detached);
  context.run();
  EXPECT_EQ(steps, 4);
}

TEST(when_any, results_come_from_several_threads_at_a_time) {
  weft::thread_pool pool(2);
  for (int round = 0; round != 500; ++round) {
    promise<std::size_t> end;
    auto ended = end.get_future();
    weft::cancellation_signal signal;
    when_any(weft::async(pool, [] { return 1; }), weft::async(pool, [] { return 2; }),
             weft::async(pool, [] { return 3; }))(weft::bind_cancellation_slot(
        signal.slot(),
        [e = std::move(end)](std::size_t first, auto) mutable { e.set_value(first); }));
    if (round % 2)
      signal.emit(weft::cancellation_type::all);
    EXPECT_LT(ended.get(), 3u);
  }
}

}  // namespace
