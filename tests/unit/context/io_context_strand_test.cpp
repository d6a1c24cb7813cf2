// SPDX-License-Identifier: BSL-1.0
#include <weft/context/io_context_strand.hpp>

#include <gtest/gtest.h>

#include <vector>

#include <weft/async/bind_executor.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/any_io_executor.hpp>

namespace {

static_assert(weft::execution::is_executor_v<weft::io_context::strand>);

TEST(io_context_strand, runs_functions_in_the_order_of_their_posting) {
  weft::io_context context;
  weft::io_context::strand serial(context);
  std::vector<int> order;
  serial.post([&] {
    EXPECT_TRUE(serial.running_in_this_thread());
    serial.dispatch([&] { order.push_back(1); });
    serial.defer([&] { order.push_back(3); });
    order.push_back(2);
  });
  weft::post(serial, [&] { order.push_back(4); });
  context.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 4, 3}));
  EXPECT_EQ(&serial.context(), &context);
}

TEST(io_context_strand, copies_are_one_strand_and_fit_any_io_executor) {
  weft::io_context context;
  const weft::io_context::strand a(context), b(a), c(context);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  weft::any_io_executor any = a;
  bool inside = false;
  weft::post(any, [&] { inside = a.running_in_this_thread(); });
  context.run();
  EXPECT_TRUE(inside);
}

}  // namespace
