// SPDX-License-Identifier: BSL-1.0
#include <weft/async/work_guard.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace {

/// An executor that is known by its number.
struct numbered_executor {
  int number;
  template <class F>
  void execute(F f) const {
    f();
  }
  bool operator==(const numbered_executor&) const noexcept = default;
};

struct numbered_context : weft::execution_context {
  using executor_type = numbered_executor;
  executor_type get_executor() noexcept { return {3}; }
};

struct handler_with_executor {
  using executor_type = numbered_executor;
  executor_type get_executor() const noexcept { return {1}; }
};
struct plain_handler {};

TEST(make_work_guard, takes_the_executor_associated_with_a_handler) {
  handler_with_executor handler;
  EXPECT_EQ(weft::make_work_guard(handler).get_executor().number, 1);
  EXPECT_EQ(weft::make_work_guard(handler, numbered_executor{2}).get_executor().number, 1);
  numbered_context context;
  EXPECT_EQ(weft::make_work_guard(handler, context).get_executor().number, 1);
}

TEST(make_work_guard, takes_the_candidate_where_nothing_is_associated) {
  plain_handler handler;
  numbered_context context;
  EXPECT_EQ(weft::make_work_guard(handler, numbered_executor{2}).get_executor().number, 2);
  EXPECT_EQ(weft::make_work_guard(handler, context).get_executor().number, 3);
  EXPECT_EQ(weft::make_work_guard(context).get_executor().number, 3);
  EXPECT_EQ(weft::make_work_guard(numbered_executor{2}).get_executor().number, 2);
  static_assert(std::is_same_v<decltype(weft::make_work_guard(handler)),
                               weft::executor_work_guard<weft::inline_executor>>);
}

}  // namespace
