// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/task.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/coro/use_awaitable.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/misuse.hpp"
#include "unit/coro/parked.hpp"
#include "unit/coro/run_coroutine.hpp"
#include "unit/support/counting_allocator.hpp"

namespace {

using weft::awaitable;
using weft::co_spawn;
using weft::detached;
using weft::io_context;
using weft::task;
using weft_test::expect_assertion;
using weft_test::parked;
using weft_test::run;
namespace this_coro = weft::this_coro;

task<int> number(int n) {
  co_return n;
}

TEST(task, returns_what_its_coroutine_returns) {
  EXPECT_EQ(run([]() -> task<int> { co_return co_await number(3) + co_await number(4); }), 7);
}

TEST(task, is_called_by_an_awaitable_and_calls_one) {
  const auto inner = []() -> awaitable<int> {
    co_await weft::post(co_await this_coro::executor);
    co_return 5;
  };
  const auto middle = [&]() -> task<int> { co_return co_await inner() + 1; };
  EXPECT_EQ(run([&]() -> awaitable<int> { co_return co_await middle() + 1; }), 7);
}

TEST(task, returns_what_can_only_be_moved_references_and_nothing) {
  int object = 1;
  const auto make = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(5); };
  const auto refer = [](int& r) -> task<int&> { co_return r; };
  const auto increment = [](int& r) -> task<> {
    ++r;
    co_return;
  };
  run([&]() -> task<void> {
    EXPECT_EQ(*co_await make(), 5);
    int& same = co_await refer(object);
    EXPECT_EQ(&same, &object);
    co_await increment(object);
    EXPECT_EQ(object, 2);
  });
}

TEST(task, throws_what_leaves_the_coroutine_it_calls) {
  const auto fail = []() -> task<int> {
    throw std::runtime_error("no");
    co_return 0;
  };
  run([&]() -> awaitable<void> {
    bool caught = false;
    try {
      co_await fail();
    } catch (const std::runtime_error& e) {
      caught = std::string(e.what()) == "no";
    }
    EXPECT_TRUE(caught);
  });
  EXPECT_THROW(run(fail), std::runtime_error);
}

task<int> depth(int n) {
  if (n == 0)
    co_return 0;
  co_return 1 + co_await depth(n - 1);
}

TEST(task, calls_a_million_deep_and_returns_without_growing_the_stack) {
  EXPECT_EQ(run([] { return depth(1'000'000); }), 1'000'000);
}

task<int> deep_wait(int n) {
  if (n == 0) {
    co_await weft::post(co_await this_coro::executor);
    co_return 0;
  }
  co_return 1 + co_await deep_wait(n - 1);
}

TEST(task, returns_a_million_deep_after_a_wait) {
  EXPECT_EQ(run([] { return deep_wait(1'000'000); }), 1'000'000);
}

TEST(task, is_called_a_million_times_in_a_row_without_growing_the_stack) {
  EXPECT_EQ(run([]() -> task<int> {
              int sum = 0;
              for (int i = 0; i != 1'000'000; ++i)
                sum += co_await number(1);
              co_return sum;
            }),
            1'000'000);
}

awaitable<int> mixed_awaitable(int n);
task<int> mixed_task(int n) {
  if (n == 0)
    co_return 0;
  co_return 1 + co_await mixed_awaitable(n - 1);
}
awaitable<int> mixed_awaitable(int n) {
  if (n == 0)
    co_return 0;
  co_return 1 + co_await mixed_task(n - 1);
}

TEST(task, and_awaitable_call_each_other_deep) {
  EXPECT_EQ(run([] { return mixed_awaitable(100'000); }), 100'000);
}

TEST(task, one_that_is_not_run_destroys_its_arguments) {
  const auto object = std::make_shared<int>(1);
  const auto keep = [](std::shared_ptr<int>) -> task<void> { co_return; };
  {
    const auto idle = keep(object);
    EXPECT_EQ(object.use_count(), 2);
    EXPECT_TRUE(idle.valid());
  }
  EXPECT_EQ(object.use_count(), 1);
}

TEST(task, moves_and_swaps) {
  task<int> a = number(1);
  task<int> b = std::move(a);
  EXPECT_FALSE(a.valid());
  a.swap(b);
  EXPECT_FALSE(b.valid());
  b = std::move(a);
  EXPECT_EQ(run([&]() -> task<int> { co_return co_await std::move(b); }), 1);
}

// ---- below a logical thread

TEST(task, awaits_operations_in_its_callers_executor) {
  io_context context;
  const auto strand = weft::make_strand(context);
  int in_strand = 0;
  const auto wait = [&]() -> task<void> {
    weft::steady_timer timer(co_await this_coro::executor, std::chrono::milliseconds(1));
    in_strand += strand.running_in_this_thread();
    co_await timer.async_wait();
    in_strand += strand.running_in_this_thread();
    co_await weft::post(context);
    in_strand += strand.running_in_this_thread();
    EXPECT_EQ(co_await weft::deferred.values(7), 7);
    in_strand += strand.running_in_this_thread();
  };
  using own = weft::strand<io_context::executor_type>;
  co_spawn(strand, [&]() -> awaitable<void, own> { co_await wait(); }, detached);
  context.run();
  EXPECT_EQ(in_strand, 4);
}

TEST(task, is_cancelled_with_its_logical_thread) {
  io_context context;
  weft::cancellation_signal signal;
  std::exception_ptr error;
  bool second_threw = false;
  const auto wait = [&]() -> task<void> {
    weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
    const auto [ec] = co_await timer.async_wait(weft::as_tuple);
    EXPECT_EQ(ec, weft::error::operation_aborted);
    EXPECT_EQ(co_await number(1), 1) << "a call is no point of cancellation";
    second_threw = true;
    co_await timer.async_wait();
    second_threw = false;
  };
  co_spawn(context, wait(),
           weft::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr e) { error = e; }));
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_TRUE(second_threw);
  ASSERT_TRUE(error);
  EXPECT_THROW(std::rethrow_exception(error), weft::system_error);
}

TEST(task, reads_and_sets_the_cancellation_of_its_logical_thread) {
  run([]() -> task<void> {
    EXPECT_TRUE(co_await this_coro::throw_if_cancelled());
    co_await this_coro::throw_if_cancelled(false);
    EXPECT_FALSE(co_await this_coro::throw_if_cancelled());
    co_await this_coro::reset_cancellation_state(weft::enable_total_cancellation());
    const auto state = co_await this_coro::cancellation_state;
    EXPECT_EQ(state.cancelled(), weft::cancellation_type::none);
  });
}

struct noting {
  std::vector<int>& notes;
  int value;
  ~noting() { notes.push_back(value); }
};

TEST(task, a_context_that_ends_destroys_the_chain_from_the_innermost) {
  std::vector<int> notes;
  const auto innermost = [&]() -> awaitable<void> {
    const noting n{notes, 1};
    weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
    co_await timer.async_wait();
  };
  const auto middle = [&]() -> task<void> {
    const noting n{notes, 2};
    co_await innermost();
  };
  const auto outermost = [&]() -> task<void> {
    const noting n{notes, 3};
    co_await middle();
  };
  {
    io_context context;
    co_spawn(context, outermost(), detached);
    context.poll();
    EXPECT_TRUE(notes.empty());
  }
  EXPECT_EQ(notes, (std::vector{1, 2, 3}));
}

TEST(task, a_deep_chain_is_destroyed_without_recursion) {
  const auto begin = [](auto self, int n) -> task<void> {
    if (n == 0) {
      weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
      co_await timer.async_wait();
    } else {
      co_await self(self, n - 1);
    }
  };
  io_context context;
  co_spawn(context, begin(begin, 1'000'000), detached);
  context.poll();
}

TEST(task, an_awaitable_of_another_executor_type_is_refused) {
  using other = awaitable<int, io_context::executor_type>;
  const auto inner = []() -> other { co_return 1; };
  EXPECT_THROW(run([&]() -> task<int> { co_return co_await inner(); }), std::logic_error);
}

TEST(task, co_spawn_keeps_the_function_until_its_coroutine_has_ended) {
  const auto object = std::make_shared<int>(4);
  EXPECT_EQ(run([object]() -> task<int> {
              co_await weft::post(co_await this_coro::executor);
              co_return *object;
            }),
            4);
}

TEST(task, a_post_to_another_context_comes_back) {
  io_context context;
  weft::thread_pool pool(1);
  bool done = false;
  co_spawn(
      context,
      [&]() -> task<void> {
        for (int i = 0; i != 100; ++i) {
          co_await weft::post(pool);
          EXPECT_TRUE(context.get_executor().running_in_this_thread());
        }
        done = true;
      },
      detached);
  context.run();
  EXPECT_TRUE(done);
}

task<int> hop(int levels) {
  if (levels != 0)
    co_return 1 + co_await hop(levels - 1);
  co_await weft::post(co_await this_coro::executor);
  co_return 0;
}

TEST(task, may_end_elsewhere_while_its_caller_has_not_yet_seen_it_wait) {
  weft::thread_pool pool(3);
  std::atomic<int> sum{0};
  for (int i = 0; i != 8; ++i)
    co_spawn(
        pool,
        [&]() -> task<void> {
          for (int round = 0; round != 500; ++round)
            sum += co_await hop(round % 4);
        },
        detached);
  pool.join();
  EXPECT_EQ(sum, 8 * 125 * (0 + 1 + 2 + 3));
}

TEST(task, one_that_waits_now_and_then_is_called_often_without_growing_the_stack) {
  const auto sometimes = [](int i) -> task<int> {
    if (i % 1000 == 0)
      co_await weft::post(co_await this_coro::executor);
    else if (i % 3 == 0)
      co_await weft::deferred.values(i);
    co_return 1;
  };
  const auto between = [&](int i) -> task<int> { co_return co_await sometimes(i); };
  EXPECT_EQ(run([&]() -> task<int> {
              int sum = 0;
              for (int i = 0; i != 200'000; ++i)
                sum += co_await between(i);
              co_return sum;
            }),
            200'000);
}

TEST(task, an_argument_is_destroyed_before_its_caller_goes_on) {
  const auto keep = [](std::shared_ptr<int> p) -> task<int> { co_return *p; };
  const auto object = std::make_shared<int>(7);
  run([&]() -> task<void> {
    task<int> call = keep(object);
    EXPECT_EQ(co_await std::move(call), 7);
    EXPECT_EQ(object.use_count(), 1);
  });
}

// ---- below other coroutines

/// A coroutine of another library, which runs at once.
struct foreign {
  struct promise_type {
    foreign get_return_object() noexcept {
      return foreign(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_always final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() { error = std::current_exception(); }
    std::exception_ptr error;
  };
  explicit foreign(std::coroutine_handle<promise_type> h) : handle(h) {}
  foreign(const foreign&) = delete;
  foreign& operator=(const foreign&) = delete;
  ~foreign() { handle.destroy(); }
  std::coroutine_handle<promise_type> handle;
};

TEST(task, is_awaited_by_any_coroutine) {
  std::optional<int> result;
  std::coroutine_handle<> waiting;
  const auto inner = [&]() -> task<int> {
    co_await parked{waiting};
    co_return 6;
  };
  const auto outer = [&]() -> task<int> { co_return 1 + co_await inner(); };
  const auto begin = [&]() -> foreign { result = co_await outer(); };
  const foreign f = begin();
  EXPECT_FALSE(result);
  waiting.resume();
  EXPECT_EQ(result, 7);
}

TEST(task, a_chain_below_any_coroutine_does_not_grow_the_stack) {
  std::optional<int> result;
  std::coroutine_handle<> waiting;
  const auto outer = [&]() -> task<int> {
    co_await parked{waiting};
    int sum = 0;
    for (int i = 0; i != 1'000'000; ++i)
      sum += co_await number(1);
    co_return sum + co_await depth(1'000'000);
  };
  const auto begin = [&]() -> foreign { result = co_await outer() + co_await depth(1'000'000); };
  const foreign f = begin();
  waiting.resume();
  EXPECT_EQ(result, 3'000'000);
}

TEST(task, without_an_executor_an_operation_is_refused) {
  const auto wait = []() -> task<void> { co_await weft::deferred.values(1); };
  const auto begin = [&]() -> foreign { co_await wait(); };
  const foreign f = begin();
  ASSERT_TRUE(f.handle.promise().error);
  EXPECT_THROW(std::rethrow_exception(f.handle.promise().error), std::logic_error);
}

TEST(task, is_destroyed_with_the_coroutine_that_awaits_it) {
  std::vector<int> notes;
  std::coroutine_handle<> waiting;
  const auto inner = [&]() -> task<void> {
    const noting n{notes, 1};
    co_await parked{waiting};
  };
  const auto begin = [&]() -> foreign {
    const noting n{notes, 2};
    co_await inner();
  };
  { const foreign f = begin(); }
  EXPECT_EQ(notes, (std::vector{1, 2}));
}

// ---- memory

using weft_test::counting_allocator;

task<int> with_allocator(std::allocator_arg_t, counting_allocator<int>, int n) {
  co_return n;
}

struct holder {
  int value;
  task<int> get(std::allocator_arg_t, counting_allocator<char>, int n) const {
    co_return value + n;
  }
};

TEST(task, a_frame_comes_from_the_allocator_among_the_arguments) {
  weft_test::allocation_counts memory;
  const int sum = run([&]() -> task<int> {
    const holder h{10};
    const int first =
        co_await with_allocator(std::allocator_arg, counting_allocator<int>(memory), 1);
    EXPECT_EQ(memory.allocations, 1u);
    EXPECT_EQ(memory.blocks, 0u);
    const int second = co_await h.get(std::allocator_arg, counting_allocator<char>(memory), 2);
    EXPECT_EQ(memory.allocations, 2u);
    co_return first + second;
  });
  EXPECT_EQ(sum, 13);
  EXPECT_EQ(memory.blocks, 0u);
}

// ---- misuse

TEST(task_death, one_is_awaited_once) {
  expect_assertion(
      [] {
        run([]() -> task<int> {
          auto n = number(1);
          const int first = co_await std::move(n);
          co_return first + co_await std::move(n);
        });
      },
      "a coroutine is awaited once");
  expect_assertion(
      [] {
        const auto begin = []() -> foreign {
          auto n = number(1);
          co_await std::move(n);
          co_await std::move(n);
        };
        begin();
      },
      "a task is awaited once");
}

}  // namespace
