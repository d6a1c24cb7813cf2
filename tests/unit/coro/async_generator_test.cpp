// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/async_generator.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/misuse.hpp"
#include "unit/coro/run_coroutine.hpp"

namespace {

using weft::async_generator;
using weft::awaitable;
using weft::co_spawn;
using weft::detached;
using weft::io_context;
using weft::task;
using weft_test::expect_assertion;
using weft_test::run;
namespace this_coro = weft::this_coro;

async_generator<int> count(int n, bool waits = true) {
  for (int i = 0; i != n; ++i) {
    if (waits)
      co_await weft::post(co_await this_coro::executor);
    co_yield i;
  }
}

awaitable<std::vector<int>> all(async_generator<int> g) {
  std::vector<int> result;
  while (const auto element = co_await g.next())
    result.push_back(*element);
  co_return result;
}

TEST(async_generator, yields_what_it_has_waited_for) {
  EXPECT_EQ(run([] { return all(count(4)); }), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(run([] { return all(count(3, false)); }), (std::vector{0, 1, 2}));
  EXPECT_TRUE(run([] { return all(count(0)); }).empty());
}

TEST(async_generator, of_references_keeps_what_is_converted_to_one) {
  const auto words = []() -> async_generator<const std::string&> {
    co_yield "longer than what a string keeps in itself";
    const std::string own = "its own";
    co_yield own;
  };
  run([&]() -> awaitable<void> {
    auto g = words();
    EXPECT_EQ(**co_await g.next(), "longer than what a string keeps in itself");
    EXPECT_EQ(**co_await g.next(), "its own");
    EXPECT_FALSE(co_await g.next());
  });
}

TEST(async_generator, has_nothing_after_its_end) {
  run([]() -> awaitable<void> {
    auto g = count(1);
    EXPECT_TRUE(co_await g.next());
    EXPECT_FALSE(co_await g.next());
    EXPECT_FALSE(co_await g.next());
  });
}

TEST(async_generator, is_consumed_by_a_task_and_calls_tasks) {
  const auto twice = [](int n) -> task<int> {
    co_await weft::post(co_await this_coro::executor);
    co_return 2 * n;
  };
  const auto doubled = [&](int n) -> async_generator<int> {
    for (int i = 1; i <= n; ++i)
      co_yield co_await twice(i);
  };
  EXPECT_EQ(run([&]() -> task<int> {
              int sum = 0;
              auto g = doubled(3);
              while (const auto i = co_await g.next())
                sum += *i;
              co_return sum;
            }),
            12);
}

TEST(async_generator, yields_references_and_what_can_only_be_moved) {
  run([]() -> awaitable<void> {
    int object = 1;
    const auto refer = [](int& r) -> async_generator<int&> { co_yield r; };
    auto references = refer(object);
    const auto same = co_await references.next();
    EXPECT_TRUE(same);
    EXPECT_EQ(*same, &object);

    const auto make = []() -> async_generator<std::unique_ptr<int>> {
      co_yield std::make_unique<int>(5);
    };
    auto owners = make();
    const auto owner = co_await owners.next();
    EXPECT_EQ(**owner, 5);
  });
}

TEST(async_generator, what_leaves_it_leaves_next_and_ends_it) {
  const auto fail = []() -> async_generator<int> {
    co_yield 1;
    co_await weft::post(co_await this_coro::executor);
    throw std::runtime_error("no");
  };
  run([&]() -> awaitable<void> {
    auto g = fail();
    EXPECT_EQ(*co_await g.next(), 1);
    bool caught = false;
    try {
      co_await g.next();
    } catch (const std::runtime_error&) {
      caught = true;
    }
    EXPECT_TRUE(caught);
    EXPECT_FALSE(co_await g.next());
  });
}

TEST(async_generator, a_million_elements_do_not_grow_the_stack) {
  EXPECT_EQ(run([]() -> awaitable<int> {
              int sum = 0;
              auto g = count(1'000'000, false);
              while (const auto i = co_await g.next())
                sum += *i % 2;
              co_return sum;
            }),
            500'000);
}

async_generator<int> count_slowly() {
  weft::steady_timer timer(co_await this_coro::executor);
  for (int i = 0;; ++i) {
    if (i != 0) {
      timer.expires_after(std::chrono::hours(1));
      co_await timer.async_wait();
    }
    co_yield i;
  }
}

TEST(async_generator, what_cancels_the_consumer_ends_the_wait_inside) {
  io_context context;
  weft::cancellation_signal signal;
  int taken = 0;
  bool aborted = false;
  co_spawn(
      context,
      [&]() -> awaitable<void> {
        auto g = count_slowly();
        try {
          while (co_await g.next())
            ++taken;
        } catch (const weft::system_error& e) {
          aborted = e.code() == weft::error::operation_aborted;
        }
        co_await this_coro::reset_cancellation_state();
        EXPECT_FALSE(co_await g.next()) << "it has ended";
      },
      weft::bind_cancellation_slot(signal.slot(), [](std::exception_ptr e) { EXPECT_FALSE(e); }));
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(taken, 1);
  EXPECT_TRUE(aborted);
}

struct noting {
  std::vector<int>& notes;
  int value;
  ~noting() { notes.push_back(value); }
};

TEST(async_generator, a_context_that_ends_destroys_it_before_the_consumer_that_waits) {
  std::vector<int> notes;
  const auto source = [&]() -> async_generator<int> {
    const noting n{notes, 1};
    weft::steady_timer timer(co_await this_coro::executor, std::chrono::hours(1));
    co_await timer.async_wait();
    co_yield 1;
  };
  {
    io_context context;
    co_spawn(
        context,
        [&]() -> awaitable<void> {
          const noting n{notes, 2};
          auto g = source();
          co_await g.next();
        },
        detached);
    context.poll();
    EXPECT_TRUE(notes.empty());
  }
  EXPECT_EQ(notes, (std::vector{1, 2}));
}

TEST(async_generator, may_be_destroyed_between_two_elements_or_before_the_first) {
  std::vector<int> notes;
  const auto source = [&](int value) -> async_generator<int> {
    const noting n{notes, value};
    for (;;)
      co_yield value;
  };
  run([&]() -> awaitable<void> {
    {
      const auto idle = source(1);
      auto begun = source(2);
      co_await begun.next();
      EXPECT_TRUE(notes.empty());
    }
    EXPECT_EQ(notes, (std::vector{2}));
    auto first = source(3);
    co_await first.next();
    auto second = std::move(first);
    EXPECT_EQ(*co_await second.next(), 3);
  });
  EXPECT_EQ(notes, (std::vector{2, 3}));
}

TEST(async_generator, serves_one_consumer_after_the_other) {
  io_context context;
  auto g = count(4);
  std::vector<int> taken;
  const auto take_two = [&]() -> awaitable<void> {
    for (int i = 0; i != 2; ++i)
      taken.push_back(*co_await g.next());
  };
  co_spawn(context, take_two(),
           [&](std::exception_ptr) { co_spawn(context, take_two(), detached); });
  context.run();
  EXPECT_EQ(taken, (std::vector{0, 1, 2, 3}));
}

// ---- misuse

async_generator<int> wait_for_ever() {
  weft::steady_timer never(co_await this_coro::executor, weft::steady_timer::time_point::max());
  co_await never.async_wait();
}

/// A generator, and a consumer that waits for it.
struct consumed {
  consumed() { consume(); }
  void consume() {
    co_spawn(context, [this]() -> awaitable<void> { co_await g->next(); }, detached);
    context.poll();
  }

  io_context context;
  std::optional<async_generator<int>> g{wait_for_ever()};
};

TEST(async_generator_death, one_has_one_consumer_at_a_time) {
  expect_assertion(
      [] {
        consumed twice;
        twice.consume();
      },
      "one consumer at a time");
}

TEST(async_generator_death, one_is_not_moved_while_a_consumer_waits) {
  expect_assertion(
      [] {
        consumed one;
        const auto kept = *std::move(one.g);
      },
      "is moved while a next\\(\\) waits");
}

TEST(async_generator_death, one_is_not_destroyed_while_a_consumer_waits) {
  expect_assertion(
      [] {
        consumed one;
        one.g.reset();
      },
      "is destroyed while a next\\(\\) waits");
}

TEST(async_generator_death, one_is_not_awaited_after_it_has_been_moved_from) {
  expect_assertion(
      [] {
        run([]() -> awaitable<void> {
          auto g = count(1);
          const auto kept = std::move(g);
          co_await g.next();
        });
      },
      "awaited after it has been moved from");
}

}  // namespace
