// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/task_group.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/redirect_error.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/group_error.hpp>
#include <weft/coro/with_task_group.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/manual_clock.hpp"
#include "support/misuse.hpp"
#include "unit/coro/children.hpp"
#include "unit/coro/run_coroutine.hpp"

namespace {

using namespace std::chrono_literals;
using weft::awaitable;
using weft::cancellation_type;
using weft::error_code;
using weft::io_context;
using weft::steady_timer;
using weft::task_group;
using weft::with_task_group;
using weft_test::code_of;
using weft_test::expect_assertion;
using weft_test::fail;
using weft_test::forever;
using weft_test::run;
using weft_test::sleep;
using weft_test::yield;
namespace error = weft::error;
namespace this_coro = weft::this_coro;

awaitable<void> sleep_quietly() {
  steady_timer timer(co_await this_coro::executor, forever);
  co_await timer.async_wait(weft::as_tuple);
}

std::string text_of(const std::exception_ptr& e) {
  try {
    std::rethrow_exception(e);
  } catch (const std::exception& s) {
    return s.what();
  }
}

/// What a join has reported.
struct report {
  int calls = 0;
  std::exception_ptr error;
  auto handler() {
    return [this](std::exception_ptr e) {
      ++calls;
      error = std::move(e);
    };
  }
};

TEST(task_group, a_join_waits_for_all_children) {
  io_context context;
  task_group group(context);
  int ended = 0;
  for (int i = 0; i != 10; ++i)
    group.spawn([&, i]() -> awaitable<void> {
      for (int k = 0; k != i; ++k)
        co_await yield();
      ++ended;
    });
  EXPECT_EQ(group.size(), 10u);
  report joined;
  group.async_join([&](std::exception_ptr e) {
    EXPECT_EQ(ended, 10);
    joined.handler()(e);
  });
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
  EXPECT_EQ(group.size(), 0u);
}

TEST(task_group, a_join_of_no_children_completes) {
  io_context context;
  task_group group(context);
  report joined;
  group.async_join(joined.handler());
  EXPECT_EQ(joined.calls, 0) << "inside async_join";
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
}

TEST(task_group, the_first_failure_cancels_the_others_and_alone_is_reported_as_itself) {
  io_context context;
  task_group group(context);
  report joined;
  for (int i = 0; i != 5; ++i)
    group.spawn(sleep());
  group.spawn(fail("first"));
  group.async_join(joined.handler());
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_EQ(text_of(joined.error), "first");
}

TEST(task_group, all_failures_are_reported_with_their_places) {
  io_context context;
  task_group group(context, {.cancel_on_failure = false});
  report joined;
  group.spawn(fail("one"));
  const auto line = std::source_location::current().line() - 1;
  group.spawn(yield());
  group.spawn(fail("two"));
  group.add([&](auto token) {
    return weft::async_initiate<decltype(token), void(error_code)>(
        [&](auto handler) {
          weft::post(context, [h = std::move(handler)]() mutable { h(error::eof); });
        },
        token);
  });
  group.async_join(joined.handler());
  context.run();
  ASSERT_EQ(joined.calls, 1);
  bool caught = false;
  try {
    std::rethrow_exception(joined.error);
  } catch (const weft::group_error& e) {
    caught = true;
    ASSERT_EQ(e.errors().size(), 3u);
    EXPECT_EQ(text_of(e.errors()[0].error), "one");
    EXPECT_EQ(e.errors()[0].where.line(), line);
    EXPECT_EQ(text_of(e.errors()[1].error), "two");
    EXPECT_EQ(e.errors()[1].where.line(), line + 3);
    EXPECT_EQ(code_of(e.errors()[2].error), error::eof);
    const std::string text = e.what();
    EXPECT_NE(text.find("3 children"), text.npos) << text;
    EXPECT_NE(text.find("task_group_test.cpp:" + std::to_string(line) + ": one"), text.npos)
        << text;
  }
  EXPECT_TRUE(caught);
}

TEST(task_group, after_a_join_it_is_as_if_newly_made) {
  io_context context;
  task_group group(context);
  report first, second;
  group.spawn(fail("x"));
  group.expires_after(1h);
  group.async_join(first.handler());
  context.run();
  EXPECT_TRUE(first.error);
  EXPECT_FALSE(group.is_cancelled());
  bool ended = false;
  group.spawn([&]() -> awaitable<void> {
    co_await yield();
    ended = true;
  });
  group.async_join(second.handler());
  context.restart();
  context.run();
  EXPECT_TRUE(ended);
  EXPECT_EQ(second.calls, 1);
  EXPECT_FALSE(second.error);
}

TEST(task_group, every_join_that_waits_hears_of_the_failure) {
  io_context context;
  task_group group(context);
  report a, b;
  group.spawn(fail("x"));
  group.async_join(a.handler());
  group.async_join(b.handler());
  context.run();
  EXPECT_EQ(text_of(a.error), "x");
  EXPECT_EQ(text_of(b.error), "x");
}

TEST(task_group, children_started_after_a_cancel_are_cancelled_at_once) {
  io_context context;
  task_group group(context);
  report joined;
  group.cancel();
  EXPECT_TRUE(group.is_cancelled());
  group.spawn(sleep());
  steady_timer timer(context, forever);
  group.add(timer.async_wait());
  group.async_join(joined.handler());
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error) << "they have obeyed";
}

TEST(task_group, a_child_that_is_aborted_without_a_cancel_has_failed) {
  io_context context;
  task_group group(context);
  report joined;
  steady_timer timer(context, forever);
  group.add(timer.async_wait());
  group.spawn(sleep());
  group.async_join(joined.handler());
  weft::post(context, [&] { timer.cancel(); });
  context.run();
  EXPECT_EQ(code_of(joined.error), error::operation_aborted);
}

TEST(task_group, callbacks_and_futures_may_be_children) {
  io_context context;
  task_group group(context);
  report joined;
  bool called = false;
  steady_timer soon(context, 1ms);
  soon.async_wait(group.token([&](error_code ec) {
    EXPECT_FALSE(ec);
    EXPECT_EQ(joined.calls, 0);
    called = true;
  }));
  steady_timer late(context, forever);
  auto future = late.async_wait(group.token(weft::use_future));
  auto number =
      co_spawn(context, []() -> awaitable<int> { co_return 7; }, group.token(weft::use_future));
  EXPECT_EQ(group.size(), 3u);
  group.async_join(joined.handler());
  while (!called)
    context.run_one();
  EXPECT_EQ(number.get(), 7);
  group.cancel();
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
  EXPECT_THROW(future.get(), weft::system_error);
}

TEST(task_group, an_error_that_an_adapter_takes_off_is_not_the_groups) {
  io_context context;
  task_group group(context);
  report joined;
  steady_timer timer(context, forever);
  error_code redirected;
  timer.async_wait(weft::redirect_error(group.token([] {}), redirected));
  timer.async_wait(weft::as_tuple(group.token(weft::detached)));
  group.async_join(joined.handler());
  weft::post(context, [&] { timer.cancel(); });
  context.run();
  EXPECT_EQ(redirected, error::operation_aborted);
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
}

TEST(task_group, the_slot_of_a_childs_own_token_cancels_it_too) {
  io_context context;
  task_group group(context, {.cancel_on_failure = false});
  report joined;
  weft::cancellation_signal signal;
  error_code heard;
  steady_timer timer(context, forever);
  timer.async_wait(
      group.token(weft::bind_cancellation_slot(signal.slot(), [&](error_code ec) { heard = ec; })));
  group.async_join(joined.handler());
  context.poll();
  signal.emit(cancellation_type::terminal);
  context.run();
  EXPECT_EQ(heard, error::operation_aborted);
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(signal.slot().has_handler());
}

TEST(task_group, what_a_childs_own_handler_throws_leaves_run_and_the_child_has_ended) {
  io_context context;
  task_group group(context);
  report joined;
  steady_timer timer(context, 1ms);
  timer.async_wait(group.token([](error_code) { throw std::runtime_error("handler"); }));
  group.async_join(joined.handler());
  EXPECT_THROW(context.run(), std::runtime_error);
  context.run();
  EXPECT_EQ(joined.calls, 1);
}

TEST(task_group, an_initiating_function_that_throws_leaves_no_child) {
  io_context context;
  task_group group(context);
  const auto refuse = [](auto&& token) {
    return weft::async_initiate<decltype(token), void(int)>(
        [](auto) { throw std::runtime_error("refused"); }, token);
  };
  EXPECT_THROW(group.add(refuse), std::runtime_error);
  EXPECT_EQ(group.size(), 0u);
  report joined;
  group.async_join(joined.handler());
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
}

TEST(task_group, a_cancelled_join_cancels_the_children_and_waits_for_them) {
  io_context context;
  task_group group(context);
  report joined;
  weft::cancellation_signal signal;
  bool cleaned = false;
  group.spawn([&]() -> awaitable<void> {
    co_await this_coro::throw_if_cancelled(false);
    co_await sleep_quietly();
    for (int i = 0; i != 5; ++i)
      co_await yield();
    cleaned = true;
    throw weft::system_error(error::operation_aborted);
  });
  group.async_join(weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
    EXPECT_TRUE(cleaned);
    joined.handler()(e);
  }));
  context.poll();
  signal.emit(cancellation_type::partial);
  context.poll();
  EXPECT_FALSE(group.is_cancelled()) << "a join can only end in a terminal way";
  signal.emit(cancellation_type::terminal);
  EXPECT_EQ(joined.calls, 0);
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_EQ(code_of(joined.error), error::operation_aborted);
}

TEST(task_group, a_join_cancelled_too_late_reports_what_the_children_did) {
  io_context context;
  task_group group(context);
  report joined;
  weft::cancellation_signal signal;
  group.spawn([]() -> awaitable<void> {
    co_await this_coro::throw_if_cancelled(false);
    co_await yield();
    co_await yield();
  });
  group.async_join(weft::bind_cancellation_slot(signal.slot(), joined.handler()));
  context.run_one();
  signal.emit(cancellation_type::terminal);
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
}

// ---- the limit

TEST(task_group, no_more_children_run_at_a_time_than_the_limit) {
  io_context context;
  task_group group(context, {.max_concurrency = 3});
  int running = 0, most = 0, ended = 0;
  std::vector<int> order;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        for (int i = 0; i != 20; ++i)
          co_await group.async_spawn([&, i]() -> awaitable<void> {
            order.push_back(i);
            most = std::max(most, ++running);
            for (int k = 0; k != i % 4; ++k)
              co_await yield();
            --running;
            ++ended;
          });
        co_await group.async_join();
        EXPECT_EQ(ended, 20);
      },
      [](std::exception_ptr e) { EXPECT_FALSE(e); });
  context.run();
  EXPECT_EQ(most, 3);
  ASSERT_EQ(order.size(), 20u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(task_group, who_waits_for_room_hears_of_a_cancel) {
  io_context context;
  task_group group(context, {.max_concurrency = 1});
  report spawned[3], joined;
  weft::cancellation_signal signal;
  bool began = false;
  const auto child = [&]() -> awaitable<void> {
    began = true;
    co_return;
  };
  group.async_spawn(sleep(), spawned[0].handler());
  group.async_spawn(child, weft::bind_cancellation_slot(signal.slot(), spawned[1].handler()));
  group.async_spawn(child, spawned[2].handler());
  context.poll();
  EXPECT_EQ(spawned[0].calls, 1);
  EXPECT_FALSE(spawned[0].error);
  EXPECT_EQ(spawned[1].calls, 0);
  signal.emit(cancellation_type::total);
  context.poll();
  EXPECT_EQ(code_of(spawned[1].error), error::operation_aborted);
  EXPECT_EQ(spawned[2].calls, 0);
  group.cancel();
  group.async_join(joined.handler());
  context.run();
  EXPECT_EQ(code_of(spawned[2].error), error::operation_aborted);
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(began);
}

TEST(task_group, a_child_that_was_let_in_is_waited_for_by_the_join) {
  io_context context;
  task_group group(context, {.max_concurrency = 1});
  report spawned, joined;
  bool ended = false;
  group.async_spawn(
      [&]() -> awaitable<void> {
        co_await yield();
        ended = true;
      },
      spawned.handler());
  group.async_join([&](std::exception_ptr e) {
    EXPECT_TRUE(ended);
    joined.handler()(e);
  });
  context.run();
  EXPECT_EQ(joined.calls, 1);
}

// ---- deadlines

TEST(task_group, at_its_deadline_the_children_are_cancelled_and_the_join_reports_timed_out) {
  const weft_test::manual_time time;
  io_context context;
  task_group group(context);
  report joined;
  group.expires_after(10s);
  for (int i = 0; i != 3; ++i)
    group.spawn(sleep());
  group.async_join(joined.handler());
  context.poll();
  time.advance(10s - 1ns);
  context.poll();
  EXPECT_EQ(joined.calls, 0);
  time.advance(1ns);
  context.poll();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_EQ(code_of(joined.error), error::timed_out);
  EXPECT_TRUE(context.stopped());
}

TEST(task_group, a_deadline_that_is_met_leaves_no_trace) {
  const weft_test::manual_time time;
  io_context context;
  task_group group(context);
  report joined;
  group.expires_after(10s);
  group.spawn(yield());
  group.async_join(joined.handler());
  context.poll();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
  EXPECT_TRUE(context.stopped()) << "no timer keeps the context at work";
}

TEST(task_group, a_deadline_may_be_moved) {
  const weft_test::manual_time time;
  io_context context;
  task_group group(context);
  report joined;
  group.spawn(sleep());
  group.async_join(joined.handler());
  group.expires_after(1s);
  group.expires_after(5s);
  context.poll();
  time.advance(2s);
  context.poll();
  EXPECT_EQ(joined.calls, 0);
  group.expires_after(1s);
  time.advance(1s);
  context.poll();
  EXPECT_EQ(code_of(joined.error), error::timed_out);
}

TEST(task_group, a_failure_and_a_deadline_are_both_reported) {
  const weft_test::manual_time time;
  io_context context;
  task_group group(context, {.cancel_on_failure = false});
  report joined;
  group.expires_after(1s);
  group.spawn(fail("x"));
  group.spawn(sleep());
  group.async_join(joined.handler());
  context.poll();
  time.advance(1s);
  context.poll();
  ASSERT_EQ(joined.calls, 1);
  try {
    std::rethrow_exception(joined.error);
  } catch (const weft::group_error& e) {
    ASSERT_EQ(e.errors().size(), 2u);
    EXPECT_EQ(text_of(e.errors()[0].error), "x");
    EXPECT_EQ(code_of(e.errors()[1].error), error::timed_out);
  }
}

// ---- the structured form, and trees

TEST(with_task_group, gives_what_its_body_returns_when_all_have_ended) {
  run([]() -> awaitable<void> {
    int ended = 0;
    const auto count = [&]() -> awaitable<void> {
      for (int i = 0; i != 5; ++i)
        co_await yield();
      ++ended;
    };
    const int n = co_await with_task_group([&](task_group& group) -> awaitable<int> {
      group.spawn(count);
      group.spawn(count);
      co_return 3;
    });
    EXPECT_EQ(n, 3);
    EXPECT_EQ(ended, 2);
    auto moved = co_await with_task_group([&](task_group&) -> awaitable<std::unique_ptr<int>> {
      co_return std::make_unique<int>(4);
    });
    EXPECT_EQ(*moved, 4);
    co_await with_task_group([&](task_group& group) -> awaitable<void> {
      group.spawn(count);
      co_return;
    });
    EXPECT_EQ(ended, 3);
  });
}

TEST(with_task_group, leaves_when_all_have_ended_whatever_its_body_throws) {
  run([]() -> awaitable<void> {
    bool cleaned = false;
    std::string caught;
    try {
      co_await with_task_group([&](task_group& group) -> awaitable<void> {
        group.spawn([&]() -> awaitable<void> {
          co_await this_coro::throw_if_cancelled(false);
          co_await sleep_quietly();
          for (int i = 0; i != 5; ++i)
            co_await yield();
          cleaned = true;
        });
        co_await yield();
        throw std::runtime_error("body");
      });
    } catch (const std::runtime_error& e) {
      caught = e.what();
    }
    EXPECT_EQ(caught, "body");
    EXPECT_TRUE(cleaned);
  });
}

TEST(with_task_group, a_child_that_fails_cancels_the_body) {
  EXPECT_THROW(run([]() -> awaitable<void> {
                 co_await with_task_group([](task_group& group) -> awaitable<void> {
                   group.spawn(fail("child"));
                   co_await sleep();
                 });
               }),
               std::runtime_error);
}

TEST(with_task_group, is_cancelled_with_the_group_around_it) {
  io_context context;
  task_group outer(context);
  report joined;
  int sleeping = 0, ended = 0;
  const auto nap = [&]() -> awaitable<void> {
    ++sleeping;
    struct at_end {
      int& n;
      ~at_end() { ++n; }
    } const count{ended};
    co_await sleep();
  };
  outer.spawn([&]() -> awaitable<void> {
    co_await with_task_group([&](task_group& middle) -> awaitable<void> {
      middle.spawn(nap);
      co_await with_task_group([&](task_group& inner) -> awaitable<void> {
        inner.spawn(nap);
        co_await nap();
      });
    });
  });
  context.poll();
  EXPECT_EQ(sleeping, 3);
  outer.async_join([&](std::exception_ptr e) {
    EXPECT_EQ(ended, 3);
    joined.handler()(e);
  });
  outer.cancel();
  context.run();
  EXPECT_EQ(joined.calls, 1);
  EXPECT_FALSE(joined.error);
}

TEST(with_task_group, a_coroutine_cancelled_while_it_runs_still_waits_for_the_children) {
  io_context context;
  weft::cancellation_signal signal;
  int ended = 0;
  error_code code;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        const auto wait = with_task_group([&](task_group& group) -> awaitable<void> {
          group.spawn([&]() -> awaitable<void> {
            struct at_end {
              int& n;
              ~at_end() { ++n; }
            } const count{ended};
            co_await sleep();
          });
          co_await sleep();
        });
        co_await this_coro::throw_if_cancelled(false);
        signal.emit(cancellation_type::terminal);  // before it comes to the join
        co_await std::move(const_cast<awaitable<void>&>(wait));
      },
      weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) {
        EXPECT_LE(ended, 1);
        code = code_of(e);
      }));
  context.run();
  EXPECT_EQ(code, error::operation_aborted);
}

TEST(with_task_group, a_deadline_reaches_the_leaves_of_the_tree) {
  const weft_test::manual_time time;
  io_context context;
  error_code code;
  int naps = 0;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await with_task_group([&](task_group& group) -> awaitable<void> {
          group.expires_after(3s);
          co_await with_task_group([&](task_group& inner) -> awaitable<void> {
            inner.spawn([&]() -> awaitable<void> {
              ++naps;
              co_await sleep();
            });
            co_await sleep();
          });
        });
      },
      [&](std::exception_ptr e) { code = code_of(e); });
  context.poll();
  EXPECT_EQ(naps, 1);
  time.advance(3s);
  context.poll();
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(code, error::timed_out);
}

// ---- ends

TEST(task_group, destroyed_with_children_running_it_cancels_them_and_ends_its_joins) {
  io_context context;
  report joined;
  int ended = 0;
  {
    task_group group(context);
    for (int i = 0; i != 3; ++i)
      group.spawn([&]() -> awaitable<void> {
        struct at_end {
          int& n;
          ~at_end() { ++n; }
        } const count{ended};
        co_await sleep();
      });
    group.async_join(joined.handler());
    group.expires_after(1h);
    context.poll();
  }
  context.run();
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(joined.calls, 1);
  EXPECT_EQ(code_of(joined.error), error::operation_aborted);
}

TEST(task_group, a_context_may_be_destroyed_while_all_are_pending) {
  const auto object = std::make_shared<int>(1);
  {
    io_context context;
    const auto group =
        std::make_shared<task_group>(context, weft::task_group_options{.max_concurrency = 1});
    for (int i = 0; i != 3; ++i)
      group->spawn([object]() -> awaitable<void> { co_await sleep(); });
    group->async_spawn([object]() -> awaitable<void> { co_await sleep(); },
                       [object](std::exception_ptr) {});
    group->async_spawn([object]() -> awaitable<void> { co_await sleep(); },
                       [object, group](std::exception_ptr) { ADD_FAILURE(); });
    group->expires_after(1h);
    group->async_join([object, group](std::exception_ptr) { ADD_FAILURE(); });
    co_spawn(
        context,
        [object]() -> awaitable<void> {
          auto body = [object](task_group& g) -> awaitable<void> {
            g.spawn(sleep());
            co_await sleep();
          };
          co_await with_task_group(std::move(body));
        },
        [object](std::exception_ptr) { ADD_FAILURE(); });
    context.poll();
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(task_group, children_on_another_context_may_outlive_the_groups_own) {
  io_context elsewhere;
  int ended = 0;
  {
    io_context context;
    task_group group(context);
    group.spawn(elsewhere.get_executor(), [&]() -> awaitable<void> {
      co_await yield();
      ++ended;
    });
    group.async_join([](std::exception_ptr) { ADD_FAILURE(); });
  }
  elsewhere.run();
}

TEST(task_group, four_threads_start_and_end_children) {
  weft::thread_pool pool(4);
  task_group group(pool);
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  constexpr int each = 10'000;
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i != each; ++i)
        group.spawn([&]() -> awaitable<void> {
          co_await yield();
          ++ended;
        });
    });
  for (auto& t : threads)
    t.join();
  auto joined = group.async_join(weft::use_future);
  joined.get();
  EXPECT_EQ(ended, 4 * each);
}

TEST(task_group, a_cancel_meets_children_that_start_and_end_on_other_threads) {
  for (int round = 0; round != 50; ++round) {
    weft::thread_pool pool(3);
    task_group group(pool, {.max_concurrency = 8});
    auto spawner = co_spawn(
        pool,
        [&]() -> awaitable<void> {
          for (int i = 0;; ++i) {
            group.spawn(i % 2 ? sleep() : yield());
            if (std::get<0>(co_await group.async_spawn(yield(), weft::as_tuple)))
              co_return;
          }
        },
        weft::use_future);
    group.cancel();
    spawner.get();
    auto joined = group.async_join(weft::use_future);
    joined.get();
    EXPECT_EQ(group.size(), 0u);
  }
}

// ---- misuse

TEST(task_group_death, there_is_room_for_a_child) {
  expect_assertion(
      [] {
        io_context context;
        const task_group group(context, {.max_concurrency = 0});
      },
      "needs room for at least one child");
}

}  // namespace
