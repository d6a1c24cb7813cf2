// SPDX-License-Identifier: BSL-1.0
#include <weft/context/defer.hpp>
#include <weft/context/dispatch.hpp>
#include <weft/context/post.hpp>

#include <future>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/execution/any_executor.hpp>
#include <weft/execution/any_io_executor.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft_test::counting_allocator;
using weft_test::manual_context;

TEST(post, runs_the_function_after_it_has_returned_also_from_inside_the_context) {
  manual_context ctx;
  std::vector<int> order;
  weft::post(ctx, [&] {
    weft::post(ctx, [&] { order.push_back(2); });
    order.push_back(1);
  });
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(ctx.run(), 2u);
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(defer, runs_the_function_after_it_has_returned) {
  manual_context ctx;
  std::vector<int> order;
  weft::post(ctx, [&] {
    weft::defer(ctx.get_executor(), [&] { order.push_back(2); });
    order.push_back(1);
  });
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(dispatch, runs_the_function_at_once_inside_the_context_only) {
  manual_context ctx;
  std::vector<int> order;
  weft::dispatch(ctx, [&] {
    weft::dispatch(ctx, [&] { order.push_back(1); });
    order.push_back(2);
  });
  EXPECT_TRUE(order.empty());
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(dispatch, calls_a_function_without_an_executor_at_once) {
  bool called = false;
  weft::dispatch([&] { called = true; });
  EXPECT_TRUE(called);
}

TEST(post, goes_through_the_target_to_the_associated_executor_and_keeps_work_there) {
  manual_context target, own;
  bool called = false;
  weft::post(target, weft::bind_executor(own, [&] { called = true; }));
  EXPECT_EQ(own.work(), 1);
  EXPECT_EQ(target.run(), 1u);
  EXPECT_FALSE(called);
  EXPECT_EQ(own.run(), 1u);
  EXPECT_TRUE(called);
  EXPECT_EQ(own.work(), 0);
}

TEST(post, takes_no_second_hop_when_the_associated_executor_is_the_target) {
  manual_context ctx;
  bool called = false;
  weft::post(ctx, weft::bind_executor(ctx, [&] { called = true; }));
  EXPECT_EQ(ctx.work(), 0);
  EXPECT_TRUE(ctx.run_one());
  EXPECT_TRUE(called);
}

TEST(post, without_a_target_uses_the_associated_executor) {
  manual_context ctx;
  bool called = false;
  weft::post(weft::bind_executor(ctx, [&] { called = true; }));
  EXPECT_EQ(ctx.run(), 1u);
  EXPECT_TRUE(called);
}

TEST(post, accepts_move_only_functions_and_an_executor_in_the_style_of_the_networking_ts) {
  manual_context ctx;
  int value = 0;
  weft::post(weft_test::ts_executor(ctx), [&, p = std::make_unique<int>(7)] { value = *p; });
  weft::dispatch(weft_test::ts_executor(ctx),
                 weft::bind_executor(weft_test::ts_executor(ctx), [&] { ++value; }));
  weft::defer(weft_test::ts_executor(ctx), [&] { ++value; });
  ctx.run();
  EXPECT_EQ(value, 9);
}

TEST(post, accepts_a_polymorphic_executor) {
  manual_context ctx;
  weft::any_io_executor ex = ctx.get_executor();
  int value = 0;
  weft::post(ex, [&] { ++value; });
  weft::post(ex, weft::bind_executor(ex, [&] { ++value; }));
  weft::dispatch(ex, [&] { ++value; });
  ctx.run();
  EXPECT_EQ(value, 3);
}

/// Runs functions inline, and notes whether the last could be copied.
struct noting_executor {
  template <class F>
  void execute(F f) const {
    *copyable = std::is_copy_constructible_v<F>;
    f();
  }
  weft::execution_context& query(weft::execution::context_t) const noexcept { return *context; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  noting_executor require(weft::execution::blocking_t::never_t) const { return *this; }
  bool operator==(const noting_executor&) const = default;

  weft::execution_context* context;
  bool* copyable;
};

TEST(post, hands_a_move_only_function_to_the_executor_as_it_is_and_copyable_through_any_executor) {
  manual_context ctx;
  bool copyable = true;
  int calls = 0;
  const noting_executor own{&ctx, &copyable};
  const auto function = [&] { return [&calls, p = std::make_unique<int>()] { ++calls; }; };
  const auto as_it_is = [&](auto submit) {
    copyable = true;
    submit();
    return !copyable;
  };
  EXPECT_TRUE(as_it_is([&] { weft::post(own, function()); }));
  EXPECT_TRUE(as_it_is([&] { weft::dispatch(own, function()); }));
  EXPECT_TRUE(as_it_is([&] { weft::defer(own, function()); }));
  EXPECT_TRUE(as_it_is([&] { weft::post(weft::bind_executor(own, function())); }));

  namespace execution = weft::execution;
  const execution::any_executor<execution::context_as_t<weft::execution_context&>,
                                execution::blocking_t::never_t>
      any(own);
  EXPECT_FALSE(as_it_is([&] { weft::post(any, function()); }));
  EXPECT_FALSE(as_it_is([&] { weft::post(function(), own, [] {}); }));
  EXPECT_EQ(calls, 6);
}

TEST(post, runs_a_function_in_the_target_and_passes_its_result_to_the_handler) {
  manual_context target, own;
  std::unique_ptr<int> result;
  weft::post(
      [&] {
        EXPECT_TRUE(target.running_in_this_thread());
        return std::make_unique<int>(42);
      },
      target, weft::bind_executor(own, [&](std::unique_ptr<int> p) {
        EXPECT_TRUE(own.running_in_this_thread());
        result = std::move(p);
      }));
  target.run();
  EXPECT_EQ(result, nullptr);
  own.run();
  ASSERT_NE(result, nullptr);
  EXPECT_EQ(*result, 42);
}

TEST(dispatch, runs_a_function_without_a_result_before_the_handler) {
  manual_context target, own;
  int step = 0;
  weft::dispatch([&] { step = 1; }, target.get_executor(),
                 weft::bind_executor(own, [&] { step = step * 10 + 2; }));
  target.run();
  own.run();
  EXPECT_EQ(step, 12);
}

TEST(post, what_the_function_throws_leaves_the_targets_run_and_the_handler_is_not_called) {
  manual_context ctx;
  auto alive = std::make_shared<int>(0);
  weft::post([]() -> int { throw 5; }, ctx, [alive](int) { *alive = 1; });
  EXPECT_THROW(ctx.run(), int);
  EXPECT_EQ(*alive, 0);
  EXPECT_EQ(alive.use_count(), 1);
}

// The function must have run once, and the handler hear of it once.
TEST(post, a_handlers_executor_that_refuses_is_asked_again_in_the_target) {
  weft::io_context target;
  manual_context own;
  int functions = 0;
  std::vector<int> results;
  weft::post([&] { return std::make_unique<int>(++functions); }, target,
             weft::bind_executor(own, [&](std::unique_ptr<int> p) { results.push_back(*p); }));
  own.fail_submissions(2);
  for (int i = 0; i != 2; ++i)
    EXPECT_THROW(target.run(), std::bad_alloc);
  EXPECT_EQ(own.work(), 1);
  target.run();
  EXPECT_TRUE(results.empty());
  own.run();
  EXPECT_EQ(functions, 1);
  EXPECT_EQ(results, (std::vector{1}));
  EXPECT_EQ(own.work(), 0);
}

TEST(dispatch, a_refusal_inside_the_initiating_function_leaves_the_handler_to_the_target) {
  weft::io_context target;
  manual_context own;
  int called = 0;
  weft::post(target, [&] {
    own.fail_submissions(1);
    EXPECT_NO_THROW(weft::dispatch([] {}, target, weft::bind_executor(own, [&] { ++called; })));
  });
  target.run();
  own.run();
  EXPECT_EQ(called, 1);
}

TEST(post, a_refused_handler_is_destroyed_with_the_target) {
  manual_context own;
  const auto alive = std::make_shared<int>(0);
  {
    weft::io_context target;
    weft::post([] {}, target, weft::bind_executor(own, [alive] { ADD_FAILURE() << "called"; }));
    own.fail_submissions(1);
    EXPECT_THROW(target.run(), std::bad_alloc);
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(own.work(), 0);
}

TEST(post, without_a_token_is_deferred) {
  manual_context ctx;
  auto op = weft::post(ctx);
  EXPECT_EQ(ctx.queued(), 0u);
  bool called = false;
  std::move(op)([&] { called = true; });
  ctx.run();
  EXPECT_TRUE(called);
}

TEST(post, converts_any_completion_token) {
  manual_context ctx;
  std::future<void> done = weft::post(ctx, weft::use_future);
  std::future<int> answer = weft::post([] { return 42; }, ctx, weft::use_future);
  std::future<int> applied = weft::post(ctx, weft::use_future([] { return 6; }));
  ctx.run();
  done.get();
  EXPECT_EQ(answer.get(), 42);
  EXPECT_EQ(applied.get(), 6);
}

TEST(post, takes_memory_from_the_associated_allocator_and_returns_it_before_the_call) {
  manual_context ctx;
  weft_test::allocation_counts counts;
  std::size_t in_use = 1;
  weft::post(ctx, weft::bind_allocator(counting_allocator<void>(counts),
                                       [&] { in_use = counts.blocks.load(); }));
  EXPECT_EQ(counts.blocks.load(), 1u);
  ctx.run();
  EXPECT_EQ(in_use, 0u);
}

TEST(post, loses_nothing_but_the_function_when_the_allocation_fails) {
  manual_context ctx;
  weft_test::allocation_counts counts;
  counts.fail_after = 0;
  EXPECT_THROW(weft::post(ctx, weft::bind_allocator(counting_allocator<void>(counts), [] {})),
               std::bad_alloc);
  EXPECT_EQ(ctx.run(), 0u);
}

}  // namespace
