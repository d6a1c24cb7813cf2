// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/any_executor.hpp>

namespace {

namespace execution = weft::execution;

static_assert(
    weft::can_require_v<weft::thread_pool::executor_type, execution::blocking_t::always_t>);
static_assert(
    !weft::can_require_v<weft::io_context::executor_type, execution::blocking_t::always_t>,
    "who waited in run() would wait for himself");

TEST(thread_pool, tells_the_number_of_its_own_threads) {
  weft::thread_pool pool(3);
  EXPECT_EQ(weft::query(pool.get_executor(), execution::occupancy), 3u);
  EXPECT_EQ(weft::query(weft::require(pool.get_executor(), execution::blocking.never),
                        execution::occupancy),
            3u);
  static_assert(!weft::can_query_v<weft::io_context::executor_type, execution::occupancy_t>);
}

TEST(thread_pool, with_blocking_always_execute_returns_when_the_function_has_run) {
  weft::thread_pool pool(2);
  auto ex = weft::require(pool.get_executor(), execution::blocking.always);
  EXPECT_TRUE(weft::query(ex, execution::blocking) == execution::blocking.always);
  std::thread::id where;
  ex.execute([&where, p = std::make_unique<int>()] { where = std::this_thread::get_id(); });
  EXPECT_NE(where, std::thread::id());
  EXPECT_NE(where, std::this_thread::get_id());
}

TEST(thread_pool, with_blocking_always_a_thread_of_the_pool_runs_the_function_itself) {
  weft::thread_pool pool(1);
  auto ex = weft::require(pool.get_executor(), execution::blocking.always);
  int ran = 0;
  ex.execute([&] { ex.execute([&] { ++ran; }); });
  EXPECT_EQ(ran, 1);
}

TEST(thread_pool, blocking_always_gives_way_to_the_other_values) {
  weft::thread_pool pool(1);
  auto always = weft::require(pool.get_executor(), execution::blocking.always);
  auto possibly = weft::require(always, execution::blocking.possibly);
  auto never = weft::require(always, execution::blocking.never);
  EXPECT_TRUE(weft::query(possibly, execution::blocking) == execution::blocking.possibly);
  EXPECT_TRUE(weft::query(never, execution::blocking) == execution::blocking.never);
  EXPECT_TRUE(weft::query(weft::require(never, execution::blocking.always), execution::blocking) ==
              execution::blocking.always);
}

TEST(thread_pool, blocking_always_passes_through_any_executor) {
  weft::thread_pool pool(1);
  execution::any_executor<execution::blocking_t::always_t> ex = pool.get_executor();
  bool ran = false;
  weft::require(ex, execution::blocking.always).execute([&] { ran = true; });
  EXPECT_TRUE(ran);
}

}  // namespace
