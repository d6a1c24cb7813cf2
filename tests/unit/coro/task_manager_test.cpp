// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/task_manager.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/any_completion_handler.hpp>
#include <weft/async/as_tuple.hpp>
#include <weft/async/associated_cancellation_slot.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/with_task_group.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/error_code.hpp"
#include "support/manual_clock.hpp"
#include "support/misuse.hpp"
#include "unit/coro/children.hpp"

namespace {

using namespace std::chrono_literals;
using weft::awaitable;
using weft::cancellation_type;
using weft::error_code;
using weft::io_context;
using weft::steady_timer;
using weft::task_id;
using weft::task_manager;
using weft::task_state;
using weft_test::code_of;
using weft_test::code_thrown_by;
using weft_test::expect_assertion;
using weft_test::fail;
using weft_test::forever;
using weft_test::sleep;
using weft_test::yield;
namespace error = weft::error;
namespace this_coro = weft::this_coro;

awaitable<int> number(int n) {
  co_return n;
}
/// Holds a task's place until it is let go.
struct gate {
  explicit gate(io_context& context) : timer(context, forever) {}
  awaitable<void> pass() { co_await timer.async_wait(weft::as_tuple); }
  void open() { timer.cancel(); }
  steady_timer timer;
};

TEST(task_manager, runs_coroutines_functions_and_operations) {
  io_context context;
  task_manager tasks(context);
  auto coroutine = tasks.start(number(1));
  auto by_function = tasks.start([] { return number(2); });
  auto plain = tasks.start([] { return std::string("three"); });
  auto nothing = tasks.start([] {});
  steady_timer timer(context, 1ms);
  auto operation = tasks.start(timer.async_wait());
  auto function_of_token = tasks.start([&](auto&& token) {
    return weft::async_initiate<decltype(token), void(error_code, int, char)>(
        [&](auto handler) {
          weft::post(context, [h = std::move(handler)]() mutable { h(error_code(), 4, 'c'); });
        },
        token);
  });
  EXPECT_EQ(coroutine.state(), task_state::running);
  context.run();
  EXPECT_EQ(coroutine.value(), 1);
  EXPECT_EQ(by_function.value(), 2);
  EXPECT_EQ(plain.value(), "three");
  EXPECT_EQ(nothing.state(), task_state::done);
  EXPECT_EQ(operation.state(), task_state::done);
  EXPECT_EQ(function_of_token.value(), std::tuple(4, 'c'));
  EXPECT_EQ(tasks.counts()[task_state::done], 6u);
  EXPECT_EQ(tasks.counts().unfinished(), 0u);
}

TEST(task_manager, cancel_begins_nothing_that_was_to_come_after_failures) {
  io_context context;
  task_manager tasks(context);
  bool began = false;
  auto cleaning = tasks.start([&] { began = true; }, {.after_failure = true, .held = true});
  auto work = tasks.start([] {}, {.held = true});
  tasks.depends_on(cleaning, work);
  tasks.release(cleaning);
  tasks.cancel();
  context.run();
  EXPECT_FALSE(began);
  EXPECT_EQ(cleaning.state(), task_state::cancelled);
  EXPECT_EQ(work.state(), task_state::cancelled);
}

TEST(task_manager, the_deadline_of_all_begins_nothing_in_the_place_of_what_it_ends) {
  io_context context;
  task_manager tasks(context, {.max_running = 1});
  using handler_type = weft::any_completion_handler<void(error_code)>;
  handler_type handler;
  auto first = tasks.start(
      [&](auto&& token) {
        return weft::async_initiate<decltype(token), void(error_code)>(
            [&](auto h) {
              handler = std::move(h);
              weft::get_associated_cancellation_slot(handler).assign([&](cancellation_type) {
                std::exchange(handler, handler_type())(error::operation_aborted);
              });
            },
            token);
      },
      {.timeout = 0ms});
  bool began = false;
  auto second = tasks.start([&] { began = true; });
  tasks.expires_after(0ms);
  context.run();
  EXPECT_EQ(first.state(), task_state::timed_out);
  EXPECT_EQ(second.state(), task_state::timed_out);
  EXPECT_FALSE(began);
}

TEST(task_manager, a_result_can_be_waited_for_in_every_style) {
  io_context context;
  task_manager tasks(context);
  auto task = tasks.start(number(5));
  auto future = task.async_get(weft::use_future);
  int by_callback = 0, by_coroutine = 0;
  task.async_get([&](std::exception_ptr e, int n) {
    EXPECT_FALSE(e);
    by_callback = n;
  });
  co_spawn(
      context, [&]() -> awaitable<void> { by_coroutine = co_await task.async_get(); },
      weft::detached);
  context.run();
  EXPECT_EQ(future.get(), 5);
  EXPECT_EQ(by_callback, 5);
  EXPECT_EQ(by_coroutine, 5);
  EXPECT_FALSE(tasks.find(task)) << "what has been taken is forgotten";
}

TEST(task_manager, a_result_that_can_only_be_moved_is_taken_once) {
  io_context context;
  task_manager tasks(context);
  auto task = tasks.start([] { return std::make_unique<int>(6); });
  context.run();
  auto first = task.async_get(weft::use_future);
  auto second = task.async_get(weft::use_future);
  context.restart();
  context.run();
  EXPECT_EQ(*first.get(), 6);
  try {
    second.get();
    ADD_FAILURE();
  } catch (const weft::system_error& e) {
    EXPECT_EQ(e.code(), error::not_found);
  }
}

TEST(task_manager, a_result_that_can_only_be_moved_is_given_on_or_taken) {
  io_context context;
  task_manager tasks(context);
  auto shared = tasks.start([] { return std::make_unique<int>(6); });
  auto reader =
      tasks.then(shared, [](const std::unique_ptr<int>& p) { return *p; }, {.held = true});
  auto refused = shared.async_get(weft::use_future);
  auto taken = tasks.start([] { return std::make_unique<int>(7); });
  auto got = taken.async_get(weft::use_future);
  context.run();
  EXPECT_EQ(code_thrown_by([&] { refused.get(); }), error::not_found);
  EXPECT_EQ(*got.get(), 7);
  tasks.release(task_id(reader));
  context.restart();
  context.run();
  EXPECT_EQ(reader.value(), 6);
  EXPECT_EQ(code_thrown_by([&] { tasks.then(taken, [](const std::unique_ptr<int>&) {}); }),
            error::not_found);
}

TEST(task_manager, a_failure_is_kept_with_its_error) {
  io_context context;
  task_manager tasks(context);
  const auto line = std::source_location::current().line() + 1;
  auto task = tasks.start(fail("no"));
  error_code ec;
  task_state state{};
  tasks.async_wait(task, [&](error_code e, task_state s) {
    ec = e;
    state = s;
  });
  context.run();
  EXPECT_FALSE(ec);
  EXPECT_EQ(state, task_state::failed);
  const auto info = tasks.find(task);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->where.line(), line);
  EXPECT_THROW(std::rethrow_exception(info->error), std::runtime_error);
  auto future = task.async_get(weft::use_future);
  context.restart();
  context.run();
  EXPECT_THROW(future.get(), std::runtime_error);
}

TEST(task_manager, what_starting_an_operation_throws_is_its_failure) {
  io_context context;
  task_manager tasks(context);
  auto task = tasks.start([](auto&& token) {
    return weft::async_initiate<decltype(token), void(int)>(
        [](auto) { throw std::runtime_error("refused"); }, token);
  });
  ASSERT_EQ(task.state(), task_state::failed);
  EXPECT_THROW(std::rethrow_exception(task.info().error), std::runtime_error);
}

TEST(task_manager, an_operation_that_drops_its_handler_is_cancelled) {
  io_context context;
  task_manager tasks(context);
  auto task = tasks.start([](auto&& token) {
    return weft::async_initiate<decltype(token), void(int)>([](auto) {}, token);
  });
  EXPECT_EQ(task.state(), task_state::cancelled);
  context.run();
}

TEST(task_manager, numbers_are_never_used_again_and_unknown_ones_are_not_found) {
  io_context context;
  task_manager tasks(context);
  std::vector<task_id> ids;
  for (int i = 0; i != 100; ++i) {
    auto task = tasks.start(number(i));
    ids.push_back(task);
    context.run();
    context.restart();
    EXPECT_TRUE(tasks.forget(task));
    EXPECT_FALSE(tasks.forget(task));
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::unique(ids.begin(), ids.end()), ids.end());
  EXPECT_FALSE(tasks.find(ids[3]));
  EXPECT_FALSE(tasks.kill(ids[3]));
  error_code ec;
  tasks.async_wait(ids[3], [&](error_code e, task_state) { ec = e; });
  context.run();
  EXPECT_EQ(ec, error::not_found);
  EXPECT_THROW(tasks.start(number(1), {.after = {ids[3]}}), weft::system_error);
}

TEST(task_manager, results_are_kept_for_so_many_tasks) {
  io_context context;
  task_manager tasks(context, {.keep_results = 3});
  std::vector<task_id> ids;
  for (int i = 0; i != 10; ++i)
    ids.push_back(tasks.start(number(i)));
  context.run();
  EXPECT_EQ(tasks.tasks().size(), 3u);
  EXPECT_FALSE(tasks.find(ids[6]));
  EXPECT_TRUE(tasks.find(ids[7]));
  EXPECT_EQ(tasks.counts()[task_state::done], 10u);
}

TEST(task_manager, results_are_kept_for_so_long) {
  const weft_test::manual_time time;
  io_context context;
  task_manager tasks(context, {.keep_for = 10s});
  const task_id old = tasks.start(number(1));
  context.poll();
  time.advance(11s);
  EXPECT_TRUE(tasks.find(old));
  tasks.start(number(2));
  context.restart();
  context.poll();
  EXPECT_FALSE(tasks.find(old));
}

// ---- the limit, and killing

TEST(task_manager, what_has_no_room_is_queued_and_begins_in_order) {
  io_context context;
  task_manager tasks(context, {.max_running = 2});
  std::vector<int> order;
  int running = 0, most = 0;
  for (int i = 0; i != 10; ++i)
    tasks.start([&, i]() -> awaitable<void> {
      order.push_back(i);
      most = std::max(most, ++running);
      co_await yield();
      --running;
    });
  EXPECT_EQ(tasks.counts()[task_state::running], 2u);
  EXPECT_EQ(tasks.counts()[task_state::queued], 8u);
  context.run();
  EXPECT_EQ(most, 2);
  ASSERT_EQ(order.size(), 10u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(task_manager, kills_what_runs_what_is_queued_and_what_waits) {
  io_context context;
  task_manager tasks(context, {.max_running = 1});
  const auto object = std::make_shared<int>(1);
  bool began = false;
  auto running = tasks.start(sleep());
  auto queued = tasks.start([object, &began]() -> awaitable<void> {
    began = true;
    co_return;
  });
  auto waiting = tasks.start([object, &began] { began = true; }, {.after = {running}});
  context.poll();
  EXPECT_EQ(queued.state(), task_state::queued);
  EXPECT_EQ(waiting.state(), task_state::waiting);
  EXPECT_EQ(object.use_count(), 3);
  EXPECT_TRUE(tasks.kill(queued));
  EXPECT_EQ(queued.state(), task_state::cancelled);
  EXPECT_TRUE(tasks.kill(waiting));
  EXPECT_EQ(waiting.state(), task_state::cancelled);
  EXPECT_EQ(object.use_count(), 1) << "functions that will not be called are destroyed";
  EXPECT_TRUE(running.kill());
  context.run();
  EXPECT_EQ(running.state(), task_state::cancelled);
  EXPECT_EQ(code_of(running.info().error), error::operation_aborted);
  EXPECT_FALSE(tasks.kill(running));
  EXPECT_FALSE(began);
}

TEST(task_manager, one_that_is_killed_and_finishes_all_the_same_is_done) {
  io_context context;
  task_manager tasks(context);
  gate g(context);
  auto task = tasks.start([&]() -> awaitable<int> {
    co_await this_coro::throw_if_cancelled(false);
    co_await g.pass();
    co_return 3;
  });
  context.poll();
  EXPECT_TRUE(task.kill());
  context.run();
  EXPECT_EQ(task.state(), task_state::done);
  EXPECT_EQ(task.value(), 3);
}

TEST(task_manager, one_that_is_killed_before_it_begins_to_run_ends_at_its_first_wait) {
  io_context context;
  task_manager tasks(context);
  auto task = tasks.start(sleep());
  EXPECT_TRUE(task.kill());
  context.run();
  EXPECT_EQ(task.state(), task_state::cancelled);
}

TEST(task_manager, cancel_kills_all) {
  io_context context;
  task_manager tasks(context, {.max_running = 2});
  for (int i = 0; i != 5; ++i)
    tasks.start(sleep());
  tasks.start(sleep(), {.held = true});
  context.poll();
  tasks.cancel();
  context.run();
  EXPECT_EQ(tasks.counts()[task_state::cancelled], 6u);
  auto later = tasks.start(number(1));
  context.restart();
  context.run();
  EXPECT_EQ(later.state(), task_state::done);
}

// ---- the graph

TEST(task_manager, a_task_begins_when_its_predecessors_are_done) {
  io_context context;
  task_manager tasks(context);
  gate g(context);
  std::string order;
  auto a = tasks.start([&]() -> awaitable<void> {
    co_await g.pass();
    order += 'a';
  });
  auto b = tasks.start([&] { order += 'b'; }, {.after = {a}});
  auto c = tasks.start([&] { order += 'c'; }, {.after = {a}});
  auto d = tasks.start([&] { order += 'd'; }, {.after = {b, c, b}});
  context.poll();
  EXPECT_EQ(d.state(), task_state::waiting);
  EXPECT_EQ(d.info().waits_for, (std::vector<task_id>{b, c}));
  EXPECT_EQ(order, "");
  g.open();
  context.run();
  EXPECT_EQ(order, "abcd");
  auto after_all = tasks.start([&] { order += 'e'; }, {.after = {d}});
  context.restart();
  context.run();
  EXPECT_EQ(order, "abcde");
}

TEST(task_manager, what_depends_on_a_failure_is_cancelled_unless_it_says_otherwise) {
  io_context context;
  task_manager tasks(context);
  bool began = false, cleaned = false;
  auto a = tasks.start(fail("a"), {.held = true});
  auto b = tasks.start([&] { began = true; }, {.after = {a}});
  auto c = tasks.start([&] { began = true; }, {.after = {b}});
  auto clean = tasks.start([&] { cleaned = true; }, {.after = {a, c}, .after_failure = true});
  tasks.release(a);
  context.run();
  EXPECT_EQ(a.state(), task_state::failed);
  EXPECT_EQ(b.state(), task_state::cancelled);
  EXPECT_EQ(c.state(), task_state::cancelled);
  EXPECT_EQ(clean.state(), task_state::done);
  EXPECT_FALSE(began);
  EXPECT_TRUE(cleaned);
  auto late = tasks.start([&] { began = true; }, {.after = {b}});
  EXPECT_EQ(late.state(), task_state::cancelled);
  auto late_cleaning = tasks.start([] {}, {.after = {b}, .after_failure = true});
  context.restart();
  context.run();
  EXPECT_EQ(late_cleaning.state(), task_state::done);
  EXPECT_FALSE(began);
}

TEST(task_manager, no_task_begins_before_the_last_of_its_predecessors_has_ended) {
  constexpr int count = 200;
  io_context context;
  task_manager tasks(context);
  std::mt19937 random(7);
  std::vector<weft::task_handle<void>> made;
  std::vector<std::vector<int>> before(count);
  std::vector<bool> ended(count);
  for (int i = 0; i != count; ++i) {
    weft::task_options options{.held = true};
    for (int k = i == 0 ? 0 : static_cast<int>(random() % 20); k != 0; --k) {
      before[i].push_back(static_cast<int>(random() % static_cast<unsigned>(i)));
      options.after.push_back(task_id(made[static_cast<std::size_t>(before[i].back())]));
    }
    made.push_back(tasks.start(
        [&, i] {
          for (const int b : before[i])
            EXPECT_TRUE(ended[b]) << b << " before " << i;
          ended[i] = true;
        },
        options));
  }
  std::shuffle(made.begin(), made.end(), random);
  for (const auto& task : made) {
    EXPECT_TRUE(tasks.release(task_id(task)));
    context.poll();
    context.restart();
  }
  context.run();
  EXPECT_EQ(std::count(ended.begin(), ended.end(), true), count);
}

TEST(task_manager, then_gives_the_result_on) {
  io_context context;
  task_manager tasks(context);
  auto a = tasks.start(number(2));
  auto b = tasks.then(a, [](const int& n) { return n * 3; });
  auto c = tasks.then(b, [](int n) -> awaitable<std::string> { co_return std::to_string(n); });
  auto d = tasks.then(task_id(c), [] { return true; });
  auto f = tasks.then(tasks.start(fail("x")), [] { return 1; });
  context.run();
  EXPECT_EQ(c.value(), "6");
  EXPECT_TRUE(d.value());
  EXPECT_EQ(f.state(), task_state::cancelled);
}

TEST(task_manager, a_cycle_is_refused_and_named) {
  io_context context;
  task_manager tasks(context);
  auto a = tasks.start(number(1), {.held = true});
  auto b = tasks.start(number(2), {.after = {a}});
  auto c = tasks.start(number(3), {.after = {b}});
  auto unrelated = tasks.start(number(4), {.held = true});
  tasks.depends_on(b, unrelated);
  tasks.depends_on(c, unrelated);
  bool caught = false;
  try {
    tasks.depends_on(a, c);
  } catch (const weft::task_cycle& e) {
    caught = true;
    EXPECT_EQ(e.tasks(), (std::vector<task_id>{a, c, b}));
    const std::string what = e.what();
    EXPECT_NE(what.find("task_manager_test.cpp"), what.npos) << what;
  }
  EXPECT_TRUE(caught);
  EXPECT_THROW(tasks.depends_on(a, a), weft::task_cycle);
  tasks.release(unrelated);
  tasks.release(a);
  context.run();
  EXPECT_EQ(c.state(), task_state::done);
  EXPECT_THROW(tasks.depends_on(c, a), weft::system_error);
}

TEST(task_manager, one_that_is_queued_may_still_be_made_to_wait) {
  io_context context;
  task_manager tasks(context, {.max_running = 1});
  gate g(context);
  std::string order;
  auto a = tasks.start([&]() -> awaitable<void> {
    co_await g.pass();
    order += 'a';
  });
  auto b = tasks.start([&] { order += 'b'; });
  auto c = tasks.start([&] { order += 'c'; });
  context.poll();
  tasks.depends_on(b, c);
  EXPECT_EQ(b.state(), task_state::waiting);
  g.open();
  context.run();
  EXPECT_EQ(order, "acb");
}

TEST(task_manager, a_long_chain_is_cancelled_without_recursion) {
  io_context context;
  task_manager tasks(context, {.keep_results = 0});
  auto first = tasks.start(number(0), {.held = true});
  task_id last = first;
  for (int i = 0; i != 100'000; ++i)
    last = tasks.start([] {}, {.after = {last}});
  EXPECT_TRUE(first.kill());
  EXPECT_EQ(tasks.counts()[task_state::cancelled], 100'001u);
  EXPECT_TRUE(tasks.tasks().empty());
}

// ---- deadlines

TEST(task_manager, a_task_is_timed_out_wherever_it_is_on_its_way) {
  const weft_test::manual_time time;
  io_context context;
  task_manager tasks(context, {.max_running = 1});
  auto running = tasks.start(sleep(), {.timeout = 5s});
  auto queued = tasks.start(sleep(), {.timeout = 3s});
  auto waiting = tasks.start(sleep(), {.after = {running}, .timeout = 4s});
  auto late = tasks.start(sleep(), {.held = true, .timeout = 9s});
  context.poll();
  time.advance(3s);
  context.poll();
  EXPECT_EQ(queued.state(), task_state::timed_out);
  EXPECT_EQ(waiting.state(), task_state::waiting);
  time.advance(1s);
  context.poll();
  EXPECT_EQ(waiting.state(), task_state::timed_out);
  EXPECT_EQ(running.state(), task_state::running);
  time.advance(1s);
  context.poll();
  EXPECT_EQ(running.state(), task_state::timed_out);
  EXPECT_EQ(code_of(running.info().error), error::timed_out);
  EXPECT_EQ(late.state(), task_state::waiting);
  EXPECT_TRUE(late.kill());
  context.poll();
  EXPECT_TRUE(context.stopped()) << "no timer keeps the context at work";
}

TEST(task_manager, thousands_of_deadlines_are_met_and_missed_each_at_its_time) {
  const weft_test::manual_time time;
  io_context context;
  task_manager tasks(context, {.keep_results = 10'000});
  std::vector<weft::task_handle<void>> handles;
  for (int i = 0; i != 5000; ++i) {
    const auto timeout = std::chrono::milliseconds(1 + (i * 7919) % 5000);
    handles.push_back(i % 2 ? tasks.start(sleep(), {.timeout = timeout})
                            : tasks.start(yield(), {.timeout = timeout}));
  }
  context.poll();
  EXPECT_EQ(tasks.counts()[task_state::done], 2500u);
  time.advance(2500ms);
  while (context.poll() != 0) {}
  for (int i = 0; i != 5000; ++i) {
    const auto expected = i % 2 == 0                      ? task_state::done
                          : 1 + (i * 7919) % 5000 <= 2500 ? task_state::timed_out
                                                          : task_state::running;
    ASSERT_EQ(handles[i].state(), expected) << i;
  }
  time.advance(2500ms);
  while (context.poll() != 0) {}
  EXPECT_EQ(tasks.counts()[task_state::timed_out], 2500u);
  EXPECT_TRUE(context.stopped());
}

TEST(task_manager, an_earlier_deadline_is_noticed_although_a_later_one_is_waited_for) {
  const weft_test::manual_time time;
  io_context context;
  task_manager tasks(context);
  tasks.start(sleep(), {.timeout = 1h});
  context.poll();
  auto soon =
      tasks.start(sleep(), {.deadline = weft::detail::clock_now<std::chrono::steady_clock>() + 1s});
  context.poll();
  time.advance(1s);
  context.poll();
  EXPECT_EQ(soon.state(), task_state::timed_out);
  tasks.cancel();
  context.run();
}

TEST(task_manager, at_its_own_deadline_all_tasks_are_timed_out_and_later_ones_too) {
  const weft_test::manual_time time;
  io_context context;
  task_manager tasks(context, {.max_running = 2});
  tasks.expires_after(2s);
  for (int i = 0; i != 4; ++i)
    tasks.start(sleep());
  context.poll();
  time.advance(2s);
  context.poll();
  EXPECT_EQ(tasks.counts()[task_state::timed_out], 4u);
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(tasks.start(number(1)).state(), task_state::timed_out);
  tasks.expires_after(2s);
  auto again = tasks.start(number(1));
  context.restart();
  context.poll();
  EXPECT_EQ(again.state(), task_state::done);
  EXPECT_TRUE(context.stopped());
}

TEST(task_manager, a_deadline_reaches_the_groups_below_a_task) {
  const weft_test::manual_time time;
  io_context context;
  task_manager tasks(context);
  int ended = 0;
  auto task = tasks.start(
      [&]() -> awaitable<void> {
        co_await weft::with_task_group([&](weft::task_group& group) -> awaitable<void> {
          group.spawn([&]() -> awaitable<void> {
            struct at_end {
              int& n;
              ~at_end() { ++n; }
            } const count{ended};
            co_await sleep();
          });
          co_await sleep();
        });
      },
      {.timeout = 1s});
  context.poll();
  time.advance(1s);
  context.poll();
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(task.state(), task_state::timed_out);
}

// ---- waiting, and ends

TEST(task_manager, a_join_waits_for_all_and_a_cancelled_one_for_none) {
  io_context context;
  task_manager tasks(context);
  gate g(context);
  tasks.start(g.pass());
  tasks.start(fail("x"));
  weft::cancellation_signal signal;
  std::optional<error_code> joined, cancelled;
  tasks.async_join([&](error_code ec) { joined = ec; });
  tasks.async_join(
      weft::bind_cancellation_slot(signal.slot(), [&](error_code ec) { cancelled = ec; }));
  context.poll();
  EXPECT_FALSE(joined);
  signal.emit(cancellation_type::total);
  context.poll();
  EXPECT_EQ(cancelled, error::operation_aborted);
  EXPECT_EQ(tasks.counts().unfinished(), 1u);
  g.open();
  context.run();
  EXPECT_EQ(joined, error_code());
}

TEST(task_manager, destroyed_it_kills_its_tasks_and_handles_stay_good) {
  io_context context;
  const auto object = std::make_shared<int>(1);
  weft::task_handle<void> running, waiting;
  std::optional<error_code> heard;
  {
    task_manager tasks(context);
    running = tasks.start([object]() -> awaitable<void> { co_await sleep(); }, {.timeout = 1h});
    waiting = tasks.start([object]() -> awaitable<void> { co_await sleep(); }, {.held = true});
    running.async_wait([&](error_code ec, task_state) { heard = ec; });
    context.poll();
  }
  EXPECT_EQ(waiting.state(), task_state::cancelled);
  context.run();
  EXPECT_EQ(running.state(), task_state::cancelled);
  EXPECT_EQ(heard, weft::error::operation_aborted);
  EXPECT_EQ(object.use_count(), 1);
}

TEST(task_manager, a_context_may_be_destroyed_while_all_are_pending) {
  const auto object = std::make_shared<int>(1);
  {
    io_context context;
    const auto tasks =
        std::make_shared<task_manager>(context, weft::task_manager_options{.max_running = 2});
    auto first =
        tasks->start([object, tasks]() -> awaitable<void> { co_await sleep(); }, {.timeout = 1h});
    for (int i = 0; i != 3; ++i)
      tasks->start([object]() -> awaitable<void> { co_await sleep(); });
    tasks->start([object] {}, {.after = {first}});
    first.async_get([object, tasks](std::exception_ptr) { ADD_FAILURE(); });
    tasks->async_join([object, tasks](error_code) { ADD_FAILURE(); });
    context.poll();
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(task_manager, four_threads_start_tasks_that_depend_on_each_other) {
  weft::thread_pool pool(4);
  task_manager tasks(pool, {.max_running = 64, .keep_results = 100});
  constexpr int each = 2'500;
  std::atomic<int> ran{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&, t] {
      weft::task_handle<void> last;
      for (int i = 0; i != each; ++i) {
        weft::task_options options;
        if (i % 3 == 0)
          options.timeout = 1h;
        if (i % 5 == 1)
          last = tasks.then(
              last,
              [&]() -> awaitable<void> {
                co_await yield();
                ++ran;
              },
              options);
        else
          last = tasks.start([&] { ++ran; }, options);
        if (i % 50 == t)
          tasks.counts();
      }
    });
  for (auto& t : threads)
    t.join();
  tasks.async_join(weft::use_future).get();
  EXPECT_EQ(ran, 4 * each);
  EXPECT_EQ(tasks.counts()[task_state::done], 4u * each);
}

TEST(task_manager, kills_meet_ends_on_other_threads) {
  for (int round = 0; round != 20; ++round) {
    weft::thread_pool pool(3);
    task_manager tasks(pool, {.max_running = 8});
    std::vector<weft::task_handle<void>> handles;
    for (int i = 0; i != 200; ++i)
      handles.push_back(i % 2 ? tasks.start(sleep(), {.timeout = 1h}) : tasks.start(yield()));
    for (const auto& h : handles)
      h.kill();
    tasks.async_join(weft::use_future).get();
    const auto counts = tasks.counts();
    EXPECT_EQ(counts[task_state::done] + counts[task_state::cancelled], 200u);
    EXPECT_GE(counts[task_state::cancelled], 100u);
  }
}

// ---- misuse

TEST(task_manager_death, there_is_room_for_a_task) {
  expect_assertion(
      [] {
        io_context context;
        const task_manager tasks(context, {.max_running = 0});
      },
      "needs room for at least one task");
}

TEST(task_manager_death, what_has_failed_has_no_result_for_then) {
  expect_assertion(
      [] {
        io_context context;
        task_manager tasks(context);
        tasks.then(tasks.start(number(1)), [](int) {}, {.after_failure = true});
      },
      "no result to call the function with");
}

TEST(task_manager_death, then_takes_tasks_of_its_own) {
  expect_assertion(
      [] {
        io_context context;
        task_manager tasks(context);
        task_manager others(context);
        tasks.then(others.start(number(1)), [](int) {});
      },
      "takes tasks of its own");
}

TEST(task_manager_death, a_handle_made_by_default_is_told_of) {
  constexpr auto none = "a task_handle names no task";
  using handle = weft::task_handle<int>;
  expect_assertion([] { handle().id(); }, none);
  expect_assertion([] { handle().kill(); }, none);
  expect_assertion([] { handle().async_get([](std::exception_ptr, int) {}); }, none);
  expect_assertion([] { handle().async_wait([](error_code, task_state) {}); }, none);
  expect_assertion(
      [] {
        io_context context;
        task_manager tasks(context);
        tasks.then(weft::task_handle<void>(), [] {});
      },
      none);
}

TEST(task_manager_death, a_task_has_no_value_before_it_is_done) {
  expect_assertion(
      [] {
        io_context context;
        task_manager tasks(context);
        tasks.start(number(1)).value();
      },
      "asked for its value when it is done");
}

}  // namespace
