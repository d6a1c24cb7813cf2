// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/blocking.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <latch>
#include <optional>

#include <weft/async/detached.hpp>
#include <weft/base/error.hpp>
#include <weft/context/io_context.hpp>

#include "support/child.hpp"
#include "support/sanitizer.hpp"
#include "unit/coro/all_threads_busy.hpp"

#if WEFT_TEST_FORKS_OF_THREADS

namespace {

using weft::blocking;
using weft::io_context;
using weft_test::has_succeeded;
using weft_test::start_child;

int call_and_wait(io_context& context, int value) {
  int result = 0;
  blocking(context, [value] { return value; }, [&](std::exception_ptr, int n) { result = n; });
  context.run();
  context.restart();
  return result;
}

TEST(blocking_fork, a_child_performs_calls_on_threads_of_its_own) {
  io_context context;
  ASSERT_EQ(call_and_wait(context, 1), 1);  // leaves a thread that is idle
  const pid_t child = start_child([] {
    io_context own;
    return call_and_wait(own, 2) == 2 && call_and_wait(own, 3) == 3;
  });
  EXPECT_TRUE(has_succeeded(child));
  EXPECT_EQ(call_and_wait(context, 4), 4);
}

/// A context with a call under way, that ends when it is told to.
struct call_under_way {
  io_context context;
  std::latch begun{1}, may_end{1};
  std::optional<bool> is_aborted;

  call_under_way() {
    blocking(
        context,
        [this] {
          begun.count_down();
          may_end.wait();
        },
        [this](std::exception_ptr error) {
          is_aborted = false;
          try {
            if (error)
              std::rethrow_exception(error);
          } catch (const weft::system_error& e) {
            is_aborted = e.code() == weft::error::operation_aborted;
          }
        });
    begun.wait();
  }
};

TEST(blocking_fork, a_call_that_is_under_way_is_aborted_in_the_child_and_ends_in_the_parent) {
  call_under_way call;
  call.context.notify_fork(io_context::fork_prepare);
  const pid_t child = start_child([&] {
    call.context.notify_fork(io_context::fork_child);
    call.context.run();
    return call.is_aborted == true;
  });
  call.context.notify_fork(io_context::fork_parent);
  EXPECT_TRUE(has_succeeded(child));
  call.may_end.count_down();
  call.context.run();
  EXPECT_EQ(call.is_aborted, false);
}

TEST(blocking_fork, calls_that_were_queued_all_get_threads_in_the_child) {
  io_context busy, context;
  weft_test::all_threads_busy threads(busy);
  std::latch both_begun{2};
  int performed = 0;
  for (int i = 0; i != 2; ++i)
    blocking(
        context, [&] { both_begun.arrive_and_wait(); },
        [&](std::exception_ptr error) { performed += !error; });
  context.notify_fork(io_context::fork_prepare);
  const pid_t child = start_child([&] {
    context.notify_fork(io_context::fork_child);
    context.run();
    return performed == 2;
  });
  context.notify_fork(io_context::fork_parent);
  EXPECT_TRUE(has_succeeded(child));
  EXPECT_EQ(context.poll(), 0u);
  threads.release();
  busy.run();
  context.run();
  EXPECT_EQ(performed, 2);
}

TEST(blocking_fork, a_context_with_a_call_under_way_may_end_in_a_child_that_does_not_tell_it) {
  std::optional<call_under_way> call(std::in_place);
  const pid_t child = start_child([&] {
    call.reset();
    return true;
  });
  EXPECT_TRUE(has_succeeded(child));
  call->may_end.count_down();
  call->context.run();
  EXPECT_EQ(call->is_aborted, false);
}

TEST(blocking_fork, a_child_may_call_while_other_threads_were_calling) {
  const auto call = [] {
    io_context own;
    return call_and_wait(own, 6) == 6;
  };
  weft_test::expect_success_in_children_meanwhile(call, call);
}

TEST(blocking_fork, a_call_may_fork) {
  io_context context;
  bool has_child_succeeded = false;
  blocking(
      context,
      [] {
        return start_child([] {
          io_context own;
          return call_and_wait(own, 5) == 5;
        });
      },
      [&](std::exception_ptr, pid_t child) { has_child_succeeded = has_succeeded(child); });
  context.run();
  EXPECT_TRUE(has_child_succeeded);
}

}  // namespace

#endif
