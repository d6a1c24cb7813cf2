// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/system_executor.hpp>

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include <weft/execution/any_io_executor.hpp>

namespace {

namespace execution = weft::execution;
using weft::system_executor;

static_assert(execution::executor<system_executor> && weft::is_executor_v<system_executor>);
static_assert(std::is_convertible_v<system_executor, weft::any_io_executor>);
static_assert(weft::query(system_executor(), execution::blocking) == execution::blocking.possibly);
static_assert(weft::query(system_executor(), execution::relationship) ==
              execution::relationship.fork);
static_assert(weft::query(weft::require(system_executor(), execution::blocking.never,
                                        execution::relationship.continuation),
                          execution::relationship) == execution::relationship.continuation);
static_assert(system_executor() == system_executor());
static_assert(
    std::is_same_v<
        weft::require_result_t<
            weft::require_result_t<system_executor, execution::allocator_t<std::allocator<int>>>,
            execution::allocator_t<void>>,
        system_executor>);

TEST(system_executor, execute_runs_at_once_unless_blocking_is_never) {
  bool ran = false;
  system_executor().execute([&ran, p = std::make_unique<int>()] { ran = true; });
  EXPECT_TRUE(ran);
  ran = false;
  weft::require(system_executor(), execution::blocking.always).execute([&ran] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(system_executor, execute_lets_an_exception_out_when_it_runs_at_once) {
  EXPECT_THROW(system_executor().execute([] { throw std::logic_error("out"); }), std::logic_error);
}

TEST(system_executor, execute_runs_on_another_thread_when_blocking_is_never) {
  std::promise<std::thread::id> ran;
  weft::require(system_executor(), execution::blocking.never).execute([&ran] {
    ran.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
}

TEST(system_executor, post_and_defer_run_on_another_thread_and_dispatch_here) {
  const system_executor ex;
  std::promise<std::thread::id> posted;
  std::promise<std::thread::id> deferred;
  std::thread::id dispatched;
  ex.post([&] { posted.set_value(std::this_thread::get_id()); }, std::allocator<void>());
  ex.defer([&] { deferred.set_value(std::this_thread::get_id()); }, std::allocator<void>());
  ex.dispatch([&] { dispatched = std::this_thread::get_id(); }, std::allocator<void>());
  EXPECT_NE(posted.get_future().get(), std::this_thread::get_id());
  EXPECT_NE(deferred.get_future().get(), std::this_thread::get_id());
  EXPECT_EQ(dispatched, std::this_thread::get_id());
}

TEST(system_executor, works_behind_any_io_executor) {
  weft::any_io_executor ex = system_executor();
  std::promise<std::thread::id> ran;
  weft::require(ex, execution::blocking.never).execute([&ran] {
    ran.set_value(std::this_thread::get_id());
  });
  EXPECT_NE(ran.get_future().get(), std::this_thread::get_id());
  weft::execution_context& context = weft::query(ex, execution::context);
  EXPECT_EQ(&context, &weft::query(weft::any_io_executor(system_executor()), execution::context));
  EXPECT_GE(weft::query(system_executor(), execution::occupancy), 1U);
}

}  // namespace
