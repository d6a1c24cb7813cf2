// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <weft/async/async_immediate.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/execution/inline_executor.hpp>

#include "unit/support/manual_context.hpp"

namespace {

using weft_test::manual_context;

TEST(async_immediate, completion_is_posted_to_the_io_executor) {
  manual_context io;
  int calls = 0;
  weft::async_immediate(io.get_executor(), [&] { ++calls; });
  EXPECT_EQ(calls, 0);
  io.run();
  EXPECT_EQ(calls, 1);
}

TEST(async_immediate, handler_bound_to_another_executor_is_called_there) {
  manual_context io;
  manual_context other;
  int calls = 0;
  weft::async_immediate(io.get_executor(),
                        weft::bind_executor(other.get_executor(), [&] { ++calls; }));
  EXPECT_GT(other.work(), 0);
  io.run();
  EXPECT_EQ(calls, 0);
  other.run();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(other.work(), 0);
}

TEST(async_immediate, immediate_executor_of_the_handler_takes_it) {
  manual_context io;
  int calls = 0;
  weft::async_immediate(io.get_executor(),
                        weft::bind_immediate_executor(weft::inline_executor(), [&] { ++calls; }));
  EXPECT_EQ(calls, 1);
}

struct context_with_executor : manual_context {
  using executor_type = manual_context::executor_type;
};

TEST(associated_executor, context_may_stand_for_its_executor) {
  context_with_executor context;
  const auto handler = [] {};
  EXPECT_EQ(weft::get_associated_executor(handler, context), context.get_executor());
  EXPECT_EQ(weft::get_associated_immediate_executor(handler, context),
            weft::require(context.get_executor(), weft::execution::blocking.never));
}

}  // namespace
