// SPDX-License-Identifier: BSL-1.0
#include <weft/observe/dump_tasks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#include <weft.hpp>
#include <weft/coro/async_generator.hpp>
#include <weft/coro/callable.hpp>
#include <weft/coro/resume_event.hpp>
#include <weft/coro/spawn.hpp>
#include <weft/sync/async_event.hpp>

#include "support/stress.hpp"
#include "unit/coro/parked.hpp"

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using weft::awaitable;
using weft::co_spawn;
using weft::detached;
using weft::observe::task_snapshot;
using weft_test::parked;
namespace this_coro = weft::this_coro;

unsigned here(std::source_location where = std::source_location::current()) {
  return where.line();
}

bool is_of_this_file(const task_snapshot& task) {
  return std::string_view(task.spawned.file_name()).ends_with("dump_tasks_test.cpp");
}

std::vector<task_snapshot> tasks() {
  auto found = weft::observe::tasks();
  std::erase_if(found, [](const task_snapshot& t) { return !is_of_this_file(t); });
  return found;
}

std::vector<unsigned> lines(const task_snapshot& task) {
  std::vector<unsigned> found;
  for (const std::source_location& call : task.calls)
    found.push_back(call.line());
  return found;
}

constexpr unsigned wait_line = __LINE__ + 2;
awaitable<void> sleep_until(weft::steady_timer& timer) {
  co_await timer.async_wait();
}
constexpr unsigned pass_line = __LINE__ + 2;
awaitable<void> pass(weft::steady_timer& timer) {
  co_await sleep_until(timer);
}
constexpr unsigned outermost_line = __LINE__ + 2;
awaitable<void> outermost(weft::steady_timer& timer) {
  co_await pass(timer);
}

TEST(dump_tasks, a_chain_that_waits_for_a_timer_tells_each_call) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  const unsigned line = here() + 1;
  co_spawn(context, outermost(timer), detached);
  context.poll();

  const auto found = tasks();
  ASSERT_EQ(found.size(), 1u);
  const task_snapshot& task = found[0];
  EXPECT_STREQ(task.style, "coroutine");
  EXPECT_EQ(task.spawned.line(), line);
  EXPECT_TRUE(task.is_waiting);
  EXPECT_THAT(task.waits_for, AllOf(HasSubstr("basic_waitable_timer"), HasSubstr("async_wait")));
  EXPECT_THAT(lines(task), ElementsAre(wait_line, pass_line, outermost_line));
  for (const std::source_location& call : task.calls)
    EXPECT_THAT(call.file_name(), HasSubstr("dump_tasks_test.cpp"));
}

TEST(dump_tasks, where_a_function_is_spawned_is_told_for_each_form_of_co_spawn) {
  weft::io_context context;
  const auto function = []() -> awaitable<void> { co_return; };
  const unsigned line = here();
  co_spawn(context, function(), detached);
  co_spawn(context, function, detached);
  co_spawn(context.get_executor(), function(), detached);
  co_spawn(context.get_executor(), function, detached);
  auto operation = co_spawn(context, function);
  std::move(operation)(detached);
  std::vector<unsigned> spawned;
  for (const task_snapshot& task : tasks()) {
    spawned.push_back(task.spawned.line());
    EXPECT_FALSE(task.is_waiting);
  }
  EXPECT_THAT(spawned, ElementsAre(line + 1, line + 2, line + 3, line + 4, line + 5));
  context.run();
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST(dump_tasks, one_that_runs_is_told_to_run) {
  weft::io_context context;
  weft::steady_timer timer(context, weft::steady_timer::time_point::min());
  std::vector<task_snapshot> found;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await outermost(timer);
        found = tasks();
      },
      detached);
  context.run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].is_waiting);
  EXPECT_THAT(found[0].waits_for, IsEmpty());
  EXPECT_THAT(found[0].calls, IsEmpty());
}

TEST(dump_tasks, one_that_has_ended_is_gone) {
  weft::io_context context;
  weft::steady_timer timer(context, weft::steady_timer::time_point::min());
  co_spawn(context, outermost(timer), [](std::exception_ptr) { EXPECT_THAT(tasks(), IsEmpty()); });
  context.run();
}

TEST(dump_tasks, one_that_is_destroyed_while_it_waits_is_gone) {
  {
    weft::io_context context;
    weft::steady_timer timer(context, std::chrono::hours(1));
    co_spawn(context, outermost(timer), detached);
    context.poll();
    EXPECT_EQ(tasks().size(), 1u);
  }
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST(dump_tasks, what_is_spawned_while_nothing_is_recorded_is_absent) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  weft::record_tasks(false);
  co_spawn(context, outermost(timer), detached);
  weft::record_tasks(true);
  const unsigned line = here() + 1;
  co_spawn(context, outermost(timer), detached);
  context.poll();
  const auto found = tasks();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].spawned.line(), line);
}

TEST(dump_tasks, ids_are_in_the_order_of_the_spawns_and_stay) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  for (int i = 0; i != 200; ++i)
    co_spawn(context, outermost(timer), detached);
  const auto before = tasks();
  context.poll();
  const auto after = tasks();
  ASSERT_EQ(before.size(), 200u);
  ASSERT_EQ(after.size(), 200u);
  for (std::size_t i = 0; i != before.size(); ++i) {
    EXPECT_EQ(before[i].id, after[i].id);
    if (i != 0) {
      EXPECT_LT(before[i - 1].id, before[i].id);
    }
  }
}

TEST(dump_tasks, of_many_calls_the_innermost_are_told) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  std::function<awaitable<void>(int)> descend = [&](int n) -> awaitable<void> {
    if (n == 0)
      co_await sleep_until(timer);
    else
      co_await descend(n - 1);
  };
  co_spawn(context, descend(1000), detached);
  context.poll();
  const auto found = tasks();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].calls.size(), task_snapshot::most_calls);
  EXPECT_EQ(found[0].calls.front().line(), wait_line);
  EXPECT_TRUE(found[0].has_more_calls);
  EXPECT_THAT(to_string(found[0]), HasSubstr("  ...\n"));
}

constexpr unsigned token_line = __LINE__ + 2;
awaitable<void> wait_with_token(weft::steady_timer& timer) {
  co_await timer.async_wait(weft::use_awaitable);
}

TEST(dump_tasks, the_coroutine_of_use_awaitable_is_left_out) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  co_spawn(context, wait_with_token(timer), detached);
  context.poll();
  const auto found = tasks();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].waits_for, HasSubstr("async_wait"));
  EXPECT_THAT(lines(found[0]), ElementsAre(token_line));
  EXPECT_FALSE(found[0].has_more_calls);
}

// ---- the other forms of coroutines

constexpr unsigned task_line = __LINE__ + 2;
weft::task<void> wait_in_a_task(weft::steady_timer& timer) {
  co_await timer.async_wait();
}
constexpr unsigned generator_line = __LINE__ + 3;
weft::async_generator<int> generate(weft::steady_timer& timer) {
  co_yield 1;
  co_await wait_in_a_task(timer);
  co_yield 2;
}
constexpr unsigned consumer_line = __LINE__ + 3;
awaitable<void> consume(weft::steady_timer& timer) {
  auto source = generate(timer);
  while (co_await source.next()) {}
}

TEST(dump_tasks, tasks_and_generators_are_calls_as_others_are) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  co_spawn(context, consume(timer), detached);
  co_spawn(context, wait_in_a_task(timer), detached);
  context.poll();
  const auto found = tasks();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(lines(found[0]), ElementsAre(task_line, generator_line, consumer_line));
  EXPECT_THAT(lines(found[1]), ElementsAre(task_line));
  timer.cancel();
  context.run();
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST(dump_tasks, a_generator_that_runs_is_not_what_its_consumer_waits_for) {
  weft::io_context context;
  std::vector<task_snapshot> found;
  const auto look = [&]() -> weft::async_generator<int> {
    found = tasks();
    co_yield 1;
  };
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        auto source = look();
        co_await source.next();
      },
      detached);
  context.run();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(found[0].is_waiting);
}

constexpr unsigned callable_line = __LINE__ + 3;
weft::callable<int> wait_for_event(weft::resume_event<int>& event) {
  for (int left = 2; left != 0; --left)
    co_await event;
  co_return 0;
}

TEST(dump_tasks, a_callable_is_told_of_from_its_start_to_its_end) {
  weft::resume_event<int> event;
  auto called = wait_for_event(event);
  EXPECT_THAT(tasks(), IsEmpty());
  const unsigned line = here() + 1;
  called.start();
  for (int i = 0; i != 2; ++i) {
    const auto found = tasks();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].spawned.line(), line);
    EXPECT_THAT(found[0].waits_for, HasSubstr("resume_event"));
    EXPECT_THAT(lines(found[0]), ElementsAre(callable_line));
    event.resume(i);
  }
  EXPECT_TRUE(called.done());
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST(dump_tasks, a_callable_that_is_destroyed_while_it_waits_is_gone) {
  weft::resume_event<int> event;
  {
    auto called = wait_for_event(event);
    called.start();
    EXPECT_EQ(tasks().size(), 1u);
  }
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST(dump_tasks, one_that_waits_for_a_callable_tells_whether_it_runs_in_it) {
  weft::io_context context;
  weft::resume_event<int> first_event;
  weft::resume_event<int> second_event;
  auto called = wait_for_event(first_event);
  auto started = wait_for_event(second_event);
  started.start();
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await called;
        co_await started;
      },
      detached);
  context.poll();
  auto found = tasks();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_THAT(lines(found[0]), ElementsAre(callable_line));
  EXPECT_EQ(found[1].calls.size(), 2u);
  EXPECT_THAT(found[1].waits_for, HasSubstr("resume_event"));
  first_event.resume(1);
  first_event.resume(1);
  context.poll();
  found = tasks();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].calls.size(), 1u);
  EXPECT_THAT(found[1].waits_for, HasSubstr("callable"));
  second_event.resume(1);
  second_event.resume(1);
  context.run();
  EXPECT_THAT(tasks(), IsEmpty());
}

// ---- fibers

TEST(dump_tasks, a_fiber_tells_what_it_waits_for) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  weft::async_event event(context);
  std::vector<task_snapshot> running;
  const unsigned line = here() + 1;
  weft::spawn(
      context,
      [&](weft::yield_context yield) {
        weft::error_code ec;
        timer.async_wait(yield[ec]);
        event.async_wait(yield);
        running = tasks();
        weft::post(yield);
      },
      detached);
  context.poll();
  for (const char* const awaited : {"basic_waitable_timer", "event"}) {
    const auto found = tasks();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_STREQ(found[0].style, "fiber");
    EXPECT_EQ(found[0].spawned.line(), line);
    EXPECT_TRUE(found[0].is_waiting);
    EXPECT_THAT(found[0].waits_for, HasSubstr(awaited));
    timer.cancel();
    context.poll();
    if (awaited == std::string_view("event"))
      event.set();
  }
  context.run();
  ASSERT_EQ(running.size(), 1u);
  EXPECT_FALSE(running[0].is_waiting);
  EXPECT_THAT(tasks(), IsEmpty());
}

[[gnu::noinline]] std::size_t fiber_sleeps(weft::steady_timer& timer, weft::yield_context yield) {
  timer.async_wait(yield);
  return 1;
}
[[gnu::noinline]] std::size_t fiber_passes(weft::steady_timer& timer, weft::yield_context yield) {
  return 1 + fiber_sleeps(timer, yield);
}
[[gnu::noinline]] std::size_t fiber_waits_for_event(weft::async_event& event,
                                                    weft::yield_context yield) {
  event.async_wait(yield);
  return 1;
}
template <class Executor>
struct fiber_posts {
  [[gnu::noinline]] std::size_t operator()(const Executor& executor,
                                           weft::yield_context yield) const {
    weft::post(executor, weft::bind_executor(executor, yield));
    return 1;
  }
};

std::vector<std::string> functions(const task_snapshot& task) {
  std::vector<std::string> found;
  for (const weft::observe::stack_frame& call : task.stack)
    found.push_back(call.function);
  return found;
}

TEST(dump_tasks, a_fiber_tells_the_calls_that_it_waits_in) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  weft::async_event event(context);
  weft::spawn(
      context,
      [&](weft::yield_context yield) {
        weft::error_code ec;
        EXPECT_EQ(fiber_passes(timer, yield[ec]), 2u);
        EXPECT_EQ(fiber_waits_for_event(event, yield), 1u);
        weft::post(yield);
      },
      detached);
  context.poll();
  {
    const auto found = tasks();
    ASSERT_EQ(found.size(), 1u);
    const auto calls = functions(found[0]);
    ASSERT_GE(calls.size(), 2u);
    EXPECT_THAT(calls[0], HasSubstr("fiber_sleeps"));
    EXPECT_THAT(calls[1], HasSubstr("fiber_passes"));
    EXPECT_FALSE(found[0].has_more_calls);
    const std::string text = to_string(found[0]);
    EXPECT_LT(text.find("  at "), text.find("fiber_sleeps"));
    EXPECT_LT(text.find("fiber_sleeps"), text.find("fiber_passes"));
    EXPECT_LT(text.find("fiber_passes"), text.find("  spawned by "));
  }
  timer.cancel();
  context.poll();
  {
    const auto found = tasks();
    ASSERT_EQ(found.size(), 1u);
    const auto calls = functions(found[0]);
    ASSERT_GE(calls.size(), 1u);
    EXPECT_THAT(calls[0], HasSubstr("fiber_waits_for_event"));
  }
  event.set();
  context.run();
}

[[gnu::noinline]] int fiber_descends(int depth, weft::steady_timer& timer,
                                     weft::yield_context yield) {
  if (depth == 0)
    return static_cast<int>(fiber_sleeps(timer, yield));
  return depth + fiber_descends(depth - 1, timer, yield);
}

TEST(dump_tasks, of_many_calls_on_a_stack_the_innermost_are_told) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  weft::spawn(
      context, [&](weft::yield_context yield) { fiber_descends(100, timer, yield); }, detached);
  context.poll();
  const auto found = tasks();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].has_more_calls);
  const auto calls = functions(found[0]);
  ASSERT_GE(calls.size(), 2u);
  EXPECT_LE(calls.size(), task_snapshot::most_calls);
  EXPECT_THAT(calls.front(), HasSubstr("fiber_sleeps"));
  EXPECT_THAT(calls.back(), HasSubstr("fiber_descends"));
}

TEST(dump_tasks, a_fiber_that_is_destroyed_while_it_waits_is_gone) {
  {
    weft::io_context context;
    weft::steady_timer timer(context, std::chrono::hours(1));
    weft::spawn(context, [&](weft::yield_context yield) { timer.async_wait(yield); }, detached);
    context.poll();
    EXPECT_EQ(tasks().size(), 1u);
  }
  EXPECT_THAT(tasks(), IsEmpty());
}

// ---- what is awaitable by itself

/// Awaitable by a member, or by a function, and not before somebody asks.
struct by_member {
  std::coroutine_handle<>& handle;
  parked operator co_await() && noexcept { return {handle}; }
};
struct by_function {
  std::coroutine_handle<>& handle;
};
parked operator co_await(const by_function& f) noexcept {
  return {f.handle};
}

TEST(dump_tasks, what_is_awaitable_by_itself_is_told_of) {
  weft::io_context context;
  std::coroutine_handle<> handle;
  parked lvalue{handle};
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        co_await parked{handle};
        co_await lvalue;
        co_await by_member{handle};
        co_await by_function{handle};
      },
      detached);
  const unsigned line = here() - 6;
  context.poll();
  const char* const types[] = {"parked", "parked", "by_member", "by_function"};
  for (unsigned i = 0; i != 4; ++i) {
    const auto found = tasks();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].waits_for, HasSubstr(types[i]));
    EXPECT_THAT(lines(found[0]), ElementsAre(line + i));
    handle.resume();
  }
  context.run();
  EXPECT_THAT(tasks(), IsEmpty());
}

/// Does not suspend: is ready, or changes its mind, or throws.
struct passing {
  enum class how { is_ready, goes_on, throws };
  how does;
  bool await_ready() const noexcept { return does == how::is_ready; }
  bool await_suspend(std::coroutine_handle<>) const {
    if (does == how::throws)
      throw std::runtime_error("no");
    return false;
  }
  int await_resume() const noexcept { return 9; }
};

TEST(dump_tasks, who_has_not_been_suspended_is_told_to_run) {
  weft::io_context context;
  int looks = 0;
  const auto look = [&] {
    const auto found = tasks();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_FALSE(found[0].is_waiting);
    ++looks;
  };
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        EXPECT_EQ(co_await passing{passing::how::is_ready}, 9);
        look();
        EXPECT_EQ(co_await passing{passing::how::goes_on}, 9);
        look();
        try {
          co_await passing{passing::how::throws};
        } catch (const std::runtime_error&) {
          look();
        }
        co_await weft::deferred.values(1);  // completes inside its initiating function
        look();
        try {
          co_await weft::async_initiate<const weft::deferred_t&, void()>(
              [](auto) { throw std::runtime_error("no"); }, weft::deferred);
        } catch (const std::runtime_error&) {
          look();
        }
      },
      detached);
  context.run();
  EXPECT_EQ(looks, 5);
}

// ---- the text

TEST(dump_tasks, the_text_has_a_line_for_each_call) {
  weft::io_context context;
  weft::steady_timer timer(context, std::chrono::hours(1));
  const unsigned line = here() + 1;
  co_spawn(context, outermost(timer), detached);
  EXPECT_THAT(weft::dump_tasks(), HasSubstr(" runs\n"));
  context.poll();
  const std::string text = weft::dump_tasks();
  EXPECT_THAT(text, HasSubstr("pass"));
  EXPECT_THAT(text, Not(HasSubstr("Frame*")));
  EXPECT_THAT(text, HasSubstr("coroutine "));
  EXPECT_THAT(text, HasSubstr(" waits for weft::basic_waitable_timer<"));
  std::size_t at = 0;
  for (const unsigned l : {wait_line, pass_line, outermost_line, line}) {
    at = text.find("dump_tasks_test.cpp:" + std::to_string(l) + '\n', at);
    EXPECT_NE(at, text.npos) << l << " is not in its place in\n" << text;
  }

  std::FILE* const file = std::tmpfile();
  ASSERT_TRUE(file);
  weft::dump_tasks(file);
  std::string written(text.size() + 1, ' ');
  std::rewind(file);
  written.resize(std::fread(written.data(), 1, written.size(), file));
  std::fclose(file);
  EXPECT_EQ(written, text);
}

// ---- threads

template <class Executor>
awaitable<void> work(int n) {
  const auto executor = co_await this_coro::executor;
  weft::steady_timer timer(executor, weft::steady_timer::time_point::min());
  if (n % 3 == 0)
    co_await weft::post(executor);
  if (n % 5 == 0)
    co_await weft::post(executor, weft::bind_executor(executor, weft::deferred));
  co_await outermost(timer);
}

template <class Executor>
void fiber_work(const Executor& executor, weft::yield_context yield, int n) {
  weft::steady_timer timer(executor, weft::steady_timer::time_point::min());
  if (n % 3 == 0) {
    EXPECT_EQ(fiber_posts<Executor>()(executor, yield), 1u);
  }
  EXPECT_EQ(fiber_passes(timer, yield), 2u);
}

/// Has some tasks at a time begin and end on an executor, for a while.
template <class Executor>
class spawner {
 public:
  explicit spawner(const Executor& executor) : executor_(executor) {
    for (int i = 0; i != 100; ++i)
      spawn();
  }

 private:
  void spawn() {
    const int n = begun_.fetch_add(1);
    const auto ended = [this](std::exception_ptr error) {
      EXPECT_FALSE(error);
      if (std::chrono::steady_clock::now() < end_)
        spawn();
    };
    if (n % 2 == 0)
      co_spawn(executor_, work<Executor>(n), ended);
    else
      weft::spawn(
          executor_, [this, n](weft::yield_context yield) { fiber_work(executor_, yield, n); },
          ended);
  }

  const Executor executor_;
  const std::chrono::steady_clock::time_point end_ =
      std::chrono::steady_clock::now() + weft_test::stress_time(std::chrono::milliseconds(200));
  std::atomic<int> begun_{0};
};

void dump_until(const std::atomic<bool>& done) {
  bool is_last = false;
  while (!is_last) {
    is_last = done;
    for (const task_snapshot& task : tasks()) {
      if (!task.is_waiting)
        continue;
      if (task.style == std::string_view("fiber")) {
        const auto calls = functions(task);
        ASSERT_GE(calls.size(), 1u);
        if (calls[0].find("fiber_posts") == std::string::npos) {
          ASSERT_GE(calls.size(), 2u);
          EXPECT_THAT(calls[0], HasSubstr("fiber_sleeps"));
          EXPECT_THAT(calls[1], HasSubstr("fiber_passes"));
        }
        continue;
      }
      const auto found = lines(task);
      if (found.size() == 1)  // in `work` itself
        continue;
      ASSERT_GE(found.size(), 3u);
      EXPECT_EQ(found[0], wait_line);
      EXPECT_EQ(found[1], pass_line);
      EXPECT_EQ(found[2], outermost_line);
    }
  }
}

TEST(dump_tasks, may_be_asked_for_while_threads_spawn_resume_and_end_tasks) {
  weft::thread_pool pool(3);
  const spawner native(pool.get_executor());
  const spawner on_a_strand(weft::any_io_executor(weft::make_strand(pool)));
  std::atomic<bool> done{false};
  std::thread first([&] { dump_until(done); });
  std::thread second([&] { dump_until(done); });
  pool.join();
  done = true;
  first.join();
  second.join();
  EXPECT_THAT(tasks(), IsEmpty());
}

TEST(dump_tasks, may_be_asked_for_while_contexts_are_destroyed) {
  std::atomic<bool> done{false};
  std::thread dumper([&] { dump_until(done); });
  for (int i = 0; i != 300; ++i) {
    weft::io_context context;
    weft::steady_timer timer(context, std::chrono::hours(1));
    for (int k = 0; k != 20; ++k)
      co_spawn(context, outermost(timer), detached);
    context.poll();
  }
  done = true;
  dumper.join();
  EXPECT_THAT(tasks(), IsEmpty());
}

}  // namespace
