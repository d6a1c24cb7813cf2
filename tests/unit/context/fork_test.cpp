// SPDX-License-Identifier: BSL-1.0
// What is left of contexts with threads of their own, or that are looked into, in the child of a
// fork, told or not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/system_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/system_executor.hpp>

#include "context/scheduler/scheduler.hpp"
#include "support/child.hpp"
#include "support/sanitizer.hpp"

#if WEFT_TEST_FORKS_OF_THREADS

namespace {

using weft::execution_context;
using weft::io_context;
using weft::thread_pool;
using weft_test::has_succeeded;
using weft_test::start_child;
using weft_test::succeeds_in_a_child;
using weft_test::succeeds_in_a_told_child;

/// Whether a function that is posted there runs on another thread.
template <class Executor>
bool runs_elsewhere(const Executor& executor) {
  // A child may have the function too, and not this stack.
  const auto ran = std::make_shared<std::promise<std::thread::id>>();
  weft::post(executor, [ran] { ran->set_value(std::this_thread::get_id()); });
  return ran->get_future().get() != std::this_thread::get_id();
}

/// Lets so many threads in run() come to rest.
void wait_until_asleep(execution_context& context, std::size_t count) {
  const weft::detail::scheduler& scheduler = weft::detail::use_scheduler(context);
  for (std::size_t asleep = 0; asleep != count;) {
    std::this_thread::yield();
    asleep = 0;
    scheduler.look([&](const weft::detail::worker& w) { asleep += w.is_asleep(); });
  }
}

TEST(thread_pool_fork, a_child_that_is_told_has_threads_of_its_own) {
  thread_pool pool(3);
  ASSERT_TRUE(runs_elsewhere(pool.get_executor()));
  wait_until_asleep(pool, 3);
  EXPECT_TRUE(succeeds_in_a_told_child(
      [&] {
        std::latch together(3);  // so many there are
        for (int i = 0; i != 2; ++i)
          weft::post(pool, [&] { together.arrive_and_wait(); });
        together.arrive_and_wait();
        pool.join();
        return true;
      },
      pool));
  EXPECT_TRUE(runs_elsewhere(pool.get_executor()));
}

TEST(thread_pool_fork, several_may_be_told_one_after_another) {
  thread_pool a(2), b(4), c(2);
  io_context idle;
  for (thread_pool* pool : {&a, &b, &c})
    ASSERT_TRUE(runs_elsewhere(pool->get_executor()));
  wait_until_asleep(a, 2);
  wait_until_asleep(b, 4);
  wait_until_asleep(c, 2);
  EXPECT_TRUE(succeeds_in_a_told_child(
      [&] {
        for (thread_pool* pool : {&a, &b, &c}) {
          if (!runs_elsewhere(pool->get_executor()))
            return false;
          pool->join();
        }
        return true;
      },
      a, b, idle, c));
}

TEST(thread_pool_fork, it_may_be_destroyed_in_a_child_that_is_not_told) {
  std::optional<thread_pool> pool(std::in_place, 3);
  ASSERT_TRUE(runs_elsewhere(pool->get_executor()));
  wait_until_asleep(*pool, 3);
  EXPECT_TRUE(succeeds_in_a_child([&] {
    pool->join();
    pool.reset();
    return true;
  }));
  EXPECT_TRUE(runs_elsewhere(pool->get_executor()));
}

TEST(system_context_fork, a_child_that_is_told_has_threads_of_its_own) {
  const weft::system_executor executor;
  execution_context& context = weft::query(executor, weft::execution::context);
  ASSERT_TRUE(runs_elsewhere(executor));
  wait_until_asleep(context, weft::query(executor, weft::execution::occupancy));
  EXPECT_TRUE(succeeds_in_a_told_child([&] { return runs_elsewhere(executor); }, context));
  EXPECT_TRUE(runs_elsewhere(executor));
}

/// To be called in a process that has not used the system context yet.
[[noreturn]] void fork_while_another_thread_uses_it_first() {
  std::latch begun{1};
  std::thread other([&] {
    begun.count_down();
    runs_elsewhere(weft::system_executor());
  });
  begun.wait();
  const pid_t child = start_child([] {
    weft::query(weft::system_executor(), weft::execution::context);
    return true;
  });
  other.join();
  std::exit(has_succeeded(child) ? 0 : 1);
}

TEST(system_context_fork_death, a_child_finds_it_while_another_thread_used_it_first) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (int i = 0; i != 5; ++i)
    EXPECT_EXIT(fork_while_another_thread_uses_it_first(), testing::ExitedWithCode(0), "");
}

TEST(system_context_fork, a_child_that_is_not_told_exits) {
  ASSERT_TRUE(runs_elsewhere(weft::system_executor()));
  EXPECT_TRUE(succeeds_in_a_child([]() -> bool { std::exit(0); }));
}

[[noreturn]] void exit_in_a_function() {
  ::alarm(100);
  weft::post(weft::system_executor(), [] { std::exit(0); });
  for (;;)
    ::pause();
}

[[noreturn]] void exit_in_a_function_while_it_is_joined() {
  ::alarm(100);
  weft::post(weft::system_executor(), [] { std::exit(0); });
  weft::system_executor().context().join();
  for (;;)
    ::pause();
}

TEST(system_context_fork_death, a_function_of_it_may_exit_while_it_is_joined) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_in_a_function_while_it_is_joined(), testing::ExitedWithCode(0), "");
}

TEST(system_context_fork_death, a_function_of_it_may_exit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_in_a_function(), testing::ExitedWithCode(0), "");
}

TEST(io_context_fork, a_thread_that_looks_in_does_not_hold_up_the_child) {
  io_context context;
  weft::post(context, [&] {  // while it runs there is a worker to be looked at
    std::latch looks{1}, may_end{1};
    std::thread observer([&] {
      weft::detail::use_scheduler(context).look([&](const weft::detail::worker&) {
        looks.count_down();
        may_end.wait();
      });
    });
    looks.wait();
    EXPECT_TRUE(succeeds_in_a_told_child(
        [&] {
          bool has_run = false;
          weft::post(context, [&] { has_run = true; });
          context.poll();
          return has_run;
        },
        context));
    may_end.count_down();
    observer.join();
  });
  context.run();
}

}  // namespace

#endif
