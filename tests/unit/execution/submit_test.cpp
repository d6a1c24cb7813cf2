// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/submit.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/execution/polymorphic_executor.hpp>
#include <weft/execution/uses_executor.hpp>
#include "user_executors.hpp"

namespace {

namespace detail = weft::detail;
using third_party::manual_context;

static_assert(weft::is_executor_v<manual_context::ts_executor>);
static_assert(!weft::execution::is_executor_v<manual_context::ts_executor>);
static_assert(weft::execution::is_executor_v<manual_context::executor_type>);
static_assert(!weft::is_executor_v<int> && !weft::is_executor_v<manual_context>);
static_assert(weft::is_executor_v<weft::executor>);

/// One of each style, made from a context.
struct property_style {
  using executor = manual_context::executor_type;
};
struct ts_style {
  using executor = manual_context::ts_executor;
};
struct polymorphic_property_style {
  struct executor : weft::any_io_executor {
    explicit executor(manual_context& c) : any_io_executor(c.get_executor()) {}
  };
};
struct polymorphic_ts_style {
  struct executor : weft::executor {
    explicit executor(manual_context& c) : weft::executor(manual_context::ts_executor(c)) {}
  };
};

template <class Style>
class submit : public testing::Test {
 public:
  manual_context context;
  typename Style::executor ex{context};
};
using styles =
    testing::Types<property_style, ts_style, polymorphic_property_style, polymorphic_ts_style>;
TYPED_TEST_SUITE(submit, styles);

TYPED_TEST(submit, post_queues) {
  bool ran = false;
  detail::executor_post(
      this->ex, [&ran, p = std::make_unique<int>()] { ran = true; }, std::allocator<void>());
  EXPECT_FALSE(ran);
  EXPECT_EQ(this->context.drain(), 1);
  EXPECT_TRUE(ran);
  EXPECT_EQ(this->context.continuations, 0);
}

TYPED_TEST(submit, defer_queues_a_continuation) {
  bool ran = false;
  detail::executor_defer(this->ex, [&ran] { ran = true; }, std::allocator<void>());
  EXPECT_FALSE(ran);
  EXPECT_EQ(this->context.continuations, 1);
  EXPECT_EQ(this->context.drain(), 1);
  EXPECT_TRUE(ran);
}

TYPED_TEST(submit, dispatch_runs_or_queues_as_the_executor_allows) {
  bool ran = false;
  detail::executor_dispatch(this->ex, [&ran] { ran = true; }, std::allocator<void>());
  this->context.drain();
  EXPECT_TRUE(ran);
}

TYPED_TEST(submit, a_work_guard_keeps_work_outstanding_until_it_is_reset) {
  {
    auto guard = weft::make_work_guard(this->ex);
    EXPECT_EQ(this->context.work, 1);
    EXPECT_TRUE(guard.owns_work());
    EXPECT_TRUE(guard.get_executor() == this->ex);
    {
      auto copy = guard;
      EXPECT_EQ(this->context.work, 2);
    }
    EXPECT_EQ(this->context.work, 1);
    auto moved = std::move(guard);
    EXPECT_EQ(this->context.work, 1);
    EXPECT_FALSE(guard.owns_work());
    moved.reset();
    moved.reset();
    EXPECT_EQ(this->context.work, 0);
    EXPECT_FALSE(moved.owns_work());
    auto copy_of_none = moved;
    EXPECT_EQ(this->context.work, 0);
    auto last = weft::make_work_guard(this->ex);
    EXPECT_EQ(this->context.work, 1);
  }
  EXPECT_EQ(this->context.work, 0);
}

TEST(executor_work_guard, is_made_from_a_context) {
  manual_context context;
  auto guard = weft::make_work_guard(context);
  static_assert(
      std::is_same_v<decltype(guard), weft::executor_work_guard<manual_context::executor_type>>);
  EXPECT_EQ(context.work, 1);
}

TEST(executor_work_guard, guards_an_executor_that_knows_no_work) {
  auto guard = weft::make_work_guard(weft::inline_executor());
  EXPECT_TRUE(guard.owns_work());
  guard.reset();
  EXPECT_FALSE(guard.owns_work());
}

TEST(polymorphic_executor, an_empty_one_throws_when_something_is_submitted) {
  weft::executor ex;
  EXPECT_FALSE(ex);
  EXPECT_TRUE(ex == weft::executor(nullptr));
  EXPECT_TRUE(ex.target_type() == typeid(void));
  EXPECT_THROW(ex.post([] {}, std::allocator<void>()), weft::bad_executor);
  EXPECT_THROW(ex.dispatch([] {}, std::allocator<void>()), weft::bad_executor);
  EXPECT_THROW(ex.defer([] {}, std::allocator<void>()), weft::bad_executor);
}

TEST(polymorphic_executor, has_the_target_it_was_given) {
  manual_context a;
  manual_context b;
  weft::executor ex = manual_context::ts_executor(a);
  EXPECT_EQ(&ex.context(), &a);
  EXPECT_TRUE(ex.target_type() == typeid(manual_context::ts_executor));
  ASSERT_NE(ex.target<manual_context::ts_executor>(), nullptr);
  EXPECT_EQ(ex.target<int>(), nullptr);
  EXPECT_TRUE(ex == weft::executor(manual_context::ts_executor(a)));
  EXPECT_FALSE(ex == weft::executor(manual_context::ts_executor(b)));
  weft::executor copy(std::nothrow, ex);
  ex = nullptr;
  EXPECT_FALSE(ex);
  EXPECT_TRUE(copy);
  EXPECT_TRUE(copy == manual_context::ts_executor(a));
  EXPECT_TRUE(manual_context::ts_executor(a) == copy);
  EXPECT_FALSE(copy == manual_context::ts_executor(b));
  EXPECT_FALSE(weft::executor() == manual_context::ts_executor(a));
}

struct takes_an_executor {};

}  // namespace

template <class Executor>
struct weft::uses_executor<takes_an_executor, Executor> : std::true_type {};

namespace {

static_assert(weft::uses_executor_v<takes_an_executor, weft::any_io_executor>);
static_assert(!weft::uses_executor_v<int, weft::any_io_executor>);

}  // namespace
