// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/inline_executor.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <type_traits>

#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/execution/inline_or_executor.hpp>
#include "user_executors.hpp"

namespace {

namespace execution = weft::execution;
using third_party::manual_context;

static_assert(execution::executor<weft::inline_executor>);
static_assert(weft::query(weft::inline_executor(), execution::blocking) ==
              execution::blocking.always);
static_assert(weft::query(weft::inline_executor(), execution::mapping) ==
              execution::mapping.thread);
static_assert(weft::query(weft::inline_executor(), execution::inline_exception_handling) ==
              execution::inline_exception_handling.propagate);
static_assert(weft::query(weft::require(weft::inline_executor(),
                                        execution::inline_exception_handling.terminate),
                          execution::inline_exception_handling) ==
              execution::inline_exception_handling.terminate);
static_assert(!weft::can_require_v<weft::inline_executor, execution::blocking_t::never_t>);
static_assert(weft::inline_executor() == weft::inline_executor());

using adapter = weft::inline_or_executor<manual_context::executor_type>;
using ts_adapter = weft::inline_or_executor<manual_context::ts_executor>;
static_assert(execution::executor<adapter> && !weft::is_executor_v<adapter>);
static_assert(weft::is_executor_v<ts_adapter> && !execution::executor<ts_adapter>);
static_assert(std::is_convertible_v<adapter, weft::any_io_executor>);

TEST(inline_executor, calls_the_function_inside_execute) {
  bool ran = false;
  weft::inline_executor().execute([&ran, p = std::make_unique<int>()] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(inline_executor, lets_an_exception_out) {
  EXPECT_THROW(weft::inline_executor().execute([] { throw std::logic_error("out"); }),
               std::logic_error);
}

TEST(inline_executor_death_test, ends_the_program_when_that_is_required) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  auto ex = weft::require(weft::inline_executor(), execution::inline_exception_handling.terminate);
  EXPECT_DEATH(ex.execute([] { throw std::logic_error("out"); }), "");
}

TEST(inline_or_executor, dispatch_runs_here_and_post_goes_to_the_inner_executor) {
  manual_context context;
  auto ex = weft::inline_or(context);
  static_assert(std::is_same_v<decltype(ex), adapter>);
  int ran = 0;
  ex.execute([&] { ++ran; });
  EXPECT_EQ(ran, 1);
  weft::require(ex, execution::blocking.never).execute([&] { ++ran; });
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(context.drain(), 1);
  EXPECT_EQ(ran, 2);
  weft::require(ex, execution::blocking.possibly).execute([&] { ++ran; });
  EXPECT_EQ(ran, 3);
  EXPECT_TRUE(weft::query(ex, execution::blocking) == execution::blocking.always);
  EXPECT_EQ(&weft::query(ex, execution::context), &context);
  EXPECT_EQ(&ex.context(), &context);
  EXPECT_TRUE(ex.get_inner_executor() == context.get_executor());
}

TEST(inline_or_executor, other_properties_go_to_the_inner_executor) {
  manual_context context;
  auto ex = weft::inline_or(context.get_executor());
  auto next = weft::prefer(ex, execution::relationship.continuation, execution::blocking.never);
  EXPECT_TRUE(weft::query(next, execution::relationship) == execution::relationship.continuation);
  next.execute([] {});
  EXPECT_EQ(context.continuations, 1);
  auto guard = weft::make_work_guard(ex);
  EXPECT_EQ(context.work, 1);
}

TEST(inline_or_executor, adapts_an_executor_in_the_style_of_the_networking_ts) {
  manual_context context;
  ts_adapter ex = weft::inline_or(manual_context::ts_executor(context));
  int ran = 0;
  ex.dispatch([&] { ++ran; }, std::allocator<void>());
  EXPECT_EQ(ran, 1);
  ex.post([&] { ++ran; }, std::allocator<void>());
  ex.defer([&] { ++ran; }, std::allocator<void>());
  EXPECT_EQ(ran, 1);
  EXPECT_EQ(context.drain(), 2);
  auto guard = weft::make_work_guard(ex);
  EXPECT_EQ(context.work, 1);
  EXPECT_EQ(&ex.context(), &context);
}

TEST(inline_or_executor, converts_with_its_inner_executor) {
  manual_context context;
  weft::inline_or_executor<weft::any_io_executor> ex = weft::inline_or(context);
  bool ran = false;
  ex.execute([&] { ran = true; });
  EXPECT_TRUE(ran);
  EXPECT_TRUE(ex.get_inner_executor() == weft::any_io_executor(context.get_executor()));
}

}  // namespace
