// SPDX-License-Identifier: BSL-1.0
#include <weft/execution/any_executor.hpp>

#include <gtest/gtest.h>

#include <any>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <weft/execution/any_completion_executor.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/inline_executor.hpp>
#include "user_executors.hpp"

namespace {

namespace execution = weft::execution;
using third_party::large_executor;
using third_party::manual_context;
using third_party::priority;
using third_party::priority_executor;
using manual_executor = manual_context::executor_type;
using weft::any_completion_executor;
using weft::any_io_executor;

// ---- what holds at compile time

static_assert(execution::executor<any_io_executor>);
static_assert(execution::executor<any_completion_executor>);
static_assert(std::is_nothrow_move_constructible_v<any_io_executor>);
static_assert(std::is_nothrow_copy_constructible_v<any_io_executor>);
static_assert(std::is_nothrow_move_assignable_v<any_io_executor>);
static_assert(std::is_convertible_v<manual_executor, any_io_executor>);
static_assert(std::is_convertible_v<large_executor, any_io_executor>);
static_assert(std::is_convertible_v<any_io_executor, any_completion_executor>);
static_assert(!std::is_convertible_v<any_completion_executor, any_io_executor>,
              "it may have no context");
static_assert(!std::is_convertible_v<weft::inline_executor, any_io_executor>,
              "it has neither a context nor blocking.never");
static_assert(std::is_convertible_v<weft::inline_executor, any_completion_executor>);
static_assert(!std::is_convertible_v<manual_context::ts_executor, any_io_executor>);
static_assert(!std::is_convertible_v<int, any_completion_executor>);

static_assert(weft::can_require_v<any_io_executor, execution::blocking_t::never_t>);
static_assert(!weft::can_require_v<any_io_executor, execution::blocking_t::possibly_t>);
static_assert(!weft::can_require_v<any_io_executor, execution::relationship_t::fork_t>,
              "it is in the list as prefer_only");
static_assert(weft::can_prefer_v<any_io_executor, execution::relationship_t::fork_t>);
static_assert(weft::can_query_v<any_io_executor, execution::blocking_t>);
static_assert(!weft::can_query_v<any_io_executor, execution::occupancy_t>);
static_assert(
    std::is_same_v<weft::prefer_result_t<any_io_executor, execution::outstanding_work_t::tracked_t>,
                   any_io_executor>);
static_assert(std::is_same_v<weft::query_result_t<any_io_executor, execution::context_t>,
                             weft::execution_context&>);
static_assert(sizeof(any_io_executor) == 4 * sizeof(void*));

// ---- at run time

/// Counts its own allocations.
template <class T>
struct counting_allocator {
  using value_type = T;
  int* count;
  explicit counting_allocator(int& to) : count(&to) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) : count(other.count) {}
  T* allocate(std::size_t n) {
    ++*count;
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T* p, std::size_t n) {
    std::allocator<T>().deallocate(p, n);
    *count += 100;
  }
  bool operator==(const counting_allocator&) const = default;
};

template <class T>
struct failing_allocator {
  using value_type = T;
  failing_allocator() = default;
  template <class U>
  failing_allocator(const failing_allocator<U>&) {}
  T* allocate(std::size_t) { throw std::bad_alloc(); }
  void deallocate(T*, std::size_t) {}
  bool operator==(const failing_allocator&) const = default;
};

TEST(any_executor, an_empty_one_throws_when_it_is_used) {
  any_io_executor ex;
  EXPECT_FALSE(ex);
  EXPECT_TRUE(ex == nullptr);
  EXPECT_TRUE(ex == any_io_executor());
  EXPECT_TRUE(ex.target_type() == typeid(void));
  EXPECT_EQ(ex.target<manual_executor>(), nullptr);
  EXPECT_THROW(ex.execute([] {}), execution::bad_executor);
  EXPECT_THROW(weft::require(ex, execution::blocking.never), execution::bad_executor);
  EXPECT_THROW(weft::prefer(ex, execution::relationship.fork), execution::bad_executor);
  EXPECT_THROW(weft::query(ex, execution::context), execution::bad_executor);
}

TEST(any_executor, execute_reaches_the_target_with_a_move_only_function) {
  manual_context context;
  any_io_executor ex = context.get_executor();
  int ran = 0;
  ex.execute([p = std::make_unique<int>(7), &ran] { ran = *p; });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(context.drain(), 1);
  EXPECT_EQ(ran, 7);
}

TEST(any_executor, a_function_that_is_never_run_is_destroyed) {
  auto shared = std::make_shared<int>();
  {
    manual_context context;
    any_io_executor ex = context.get_executor();
    ex.execute([shared] {});
    EXPECT_EQ(shared.use_count(), 2);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(any_executor, properties_pass_through) {
  manual_context context;
  any_io_executor ex = context.get_executor();
  EXPECT_EQ(&weft::query(ex, execution::context), &context);
  EXPECT_EQ(&weft::query(ex, execution::context_as<weft::execution_context&>), &context);
  EXPECT_EQ(&ex.context(), &context);
  EXPECT_TRUE(weft::query(ex, execution::blocking) == execution::blocking.never);
  EXPECT_TRUE(weft::query(ex, execution::relationship) == execution::relationship.fork);
  auto next = weft::prefer(ex, execution::relationship.continuation);
  EXPECT_TRUE(weft::query(next, execution::relationship) == execution::relationship.continuation);
  next.execute([] {});
  EXPECT_EQ(context.continuations, 1);
}

TEST(any_executor, tracked_work_ends_with_the_wrapper) {
  manual_context context;
  any_io_executor ex = context.get_executor();
  {
    any_io_executor tracked = weft::prefer(ex, execution::outstanding_work.tracked);
    EXPECT_EQ(context.work, 1);
    any_io_executor copy = tracked;
    EXPECT_EQ(context.work, 2);
    any_io_executor moved = std::move(tracked);
    EXPECT_EQ(context.work, 2);
    EXPECT_FALSE(tracked);
    moved = ex;
    EXPECT_EQ(context.work, 1);
  }
  EXPECT_EQ(context.work, 0);
}

TEST(any_executor, what_the_target_cannot_do_is_ignored_where_it_is_only_preferred) {
  manual_context context;
  any_io_executor ex = large_executor{&context};
  any_io_executor same = weft::prefer(ex, execution::outstanding_work.tracked);
  EXPECT_TRUE(same == ex);
  EXPECT_TRUE(weft::query(ex, execution::outstanding_work) ==
              execution::outstanding_work.untracked);
}

TEST(any_executor, target_is_found_by_its_exact_type) {
  manual_context context;
  any_io_executor ex = context.get_executor();
  EXPECT_TRUE(ex.target_type() == typeid(manual_executor));
  ASSERT_NE(ex.target<manual_executor>(), nullptr);
  EXPECT_TRUE(*ex.target<manual_executor>() == context.get_executor());
  EXPECT_EQ(ex.native_target<manual_executor>(), std::as_const(ex).target<manual_executor>());
  EXPECT_EQ(ex.target<large_executor>(), nullptr);
}

TEST(any_executor, equality_is_that_of_the_targets) {
  manual_context a;
  manual_context b;
  any_io_executor ex = a.get_executor();
  EXPECT_TRUE(ex == any_io_executor(a.get_executor()));
  EXPECT_FALSE(ex == any_io_executor(b.get_executor()));
  EXPECT_FALSE(ex == any_io_executor(large_executor{&a}));
  EXPECT_FALSE(ex == any_io_executor());
  EXPECT_TRUE(ex != nullptr);
}

// A wrapper and what may be its target compare as two wrappers would, in either order.
template <class A, class B>
constexpr bool comparable = requires(const A& a, const B& b) {
  a == b;
  b == a;
  a != b;
};
static_assert(comparable<any_io_executor, manual_executor>);
static_assert(comparable<any_io_executor, large_executor>);
static_assert(comparable<any_io_executor, any_completion_executor>);
static_assert(comparable<any_completion_executor, weft::inline_executor>);
static_assert(!comparable<any_io_executor, weft::inline_executor>, "it cannot be a target");
static_assert(!comparable<any_io_executor, int>);

template <class Any>
class any_executor_comparison : public ::testing::Test {};
using every_any_executor =
    ::testing::Types<any_io_executor, any_completion_executor,
                     execution::any_executor<execution::blocking_t::never_t>>;
TYPED_TEST_SUITE(any_executor_comparison, every_any_executor);

TYPED_TEST(any_executor_comparison, an_executor_equals_the_wrapper_that_holds_its_like) {
  manual_context a;
  manual_context b;
  const TypeParam ex = a.get_executor();
  EXPECT_TRUE(ex == a.get_executor());
  EXPECT_TRUE(a.get_executor() == ex);
  EXPECT_FALSE(ex != a.get_executor());
  EXPECT_FALSE(ex == b.get_executor());
  EXPECT_TRUE(b.get_executor() != ex);
  EXPECT_FALSE(ex == large_executor{&a});
  EXPECT_FALSE(TypeParam() == a.get_executor());
  const TypeParam large = large_executor{&a};
  EXPECT_TRUE(large == large_executor{&a});
  EXPECT_FALSE(large == large_executor{&b});
}

TEST(any_executor, equality_looks_through_wrappers_of_other_kinds) {
  manual_context a;
  manual_context b;
  const any_io_executor io = a.get_executor();
  const any_completion_executor completion = io;
  EXPECT_TRUE(completion == io);
  EXPECT_TRUE(io == completion);
  EXPECT_TRUE(completion == a.get_executor());
  EXPECT_FALSE(completion == any_io_executor(b.get_executor()));
}

TEST(any_executor, a_small_target_is_stored_in_place_and_a_large_one_is_shared) {
  manual_context context;
  any_io_executor small = context.get_executor();
  const void* p = small.target<manual_executor>();
  EXPECT_GE(p, static_cast<const void*>(&small));
  EXPECT_LT(p, static_cast<const void*>(&small + 1));
  any_io_executor large = large_executor{&context};
  any_io_executor copy = large;
  EXPECT_EQ(large.target<large_executor>(), copy.target<large_executor>());
  large = nullptr;
  copy.execute([] {});
  EXPECT_EQ(context.drain(), 1);
}

TEST(any_executor, swap_exchanges_targets) {
  manual_context context;
  any_io_executor a = context.get_executor();
  any_io_executor b = large_executor{&context};
  a.swap(b);
  EXPECT_NE(a.target<large_executor>(), nullptr);
  EXPECT_NE(b.target<manual_executor>(), nullptr);
  any_io_executor empty;
  a.swap(empty);
  EXPECT_FALSE(a);
  EXPECT_NE(empty.target<large_executor>(), nullptr);
}

TEST(any_executor, another_kind_of_wrapper_has_the_same_target) {
  manual_context context;
  any_io_executor io = context.get_executor();
  any_completion_executor completion = io;
  EXPECT_TRUE(completion.target_type() == typeid(manual_executor));
  ASSERT_NE(completion.target<manual_executor>(), nullptr);
  EXPECT_TRUE(completion == any_completion_executor(context.get_executor()));
  EXPECT_TRUE(any_completion_executor(context.get_executor()) == completion);
  auto next = weft::prefer(completion, execution::relationship.continuation);
  next.execute([] {});
  EXPECT_EQ(context.continuations, 1);
  EXPECT_EQ(context.drain(), 1);
  EXPECT_FALSE(any_completion_executor(any_io_executor()));
}

TEST(any_executor, memory_comes_from_the_allocator_once_and_goes_back_before_the_call) {
  manual_context context;
  any_io_executor ex = context.get_executor();
  int count = 0;
  int seen = 0;
  ex.execute([&] { seen = count; }, counting_allocator<char>(count));
  EXPECT_EQ(count, 1);
  context.drain();
  EXPECT_EQ(seen, 101);
  any_completion_executor twice = ex;
  count = 0;
  twice.execute([] {}, counting_allocator<char>(count));
  context.drain();
  EXPECT_EQ(count, 101);
}

TEST(any_executor, an_executor_that_runs_inline_needs_no_memory) {
  any_completion_executor ex = weft::inline_executor();
  int count = 0;
  bool ran = false;
  ex.execute([&ran, p = std::make_unique<int>()] { ran = true; }, counting_allocator<char>(count));
  EXPECT_TRUE(ran);
  EXPECT_EQ(count, 0);
}

TEST(any_executor, a_function_that_cannot_be_stored_is_destroyed_and_none_is_run) {
  manual_context context;
  any_io_executor ex = context.get_executor();
  auto shared = std::make_shared<int>();
  EXPECT_THROW(ex.execute([shared] {}, failing_allocator<char>()), std::bad_alloc);
  EXPECT_EQ(shared.use_count(), 1);
  EXPECT_EQ(context.drain(), 0);
}

TEST(any_executor, user_properties_are_carried_with_their_values) {
  using executor =
      execution::any_executor<execution::context_as_t<weft::execution_context&>, priority>;
  static_assert(!std::is_convertible_v<manual_executor, executor>);
  manual_context context;
  executor ex = priority_executor{&context};
  EXPECT_EQ(weft::query(ex, priority()), 1);
  executor high = weft::require(ex, priority{7});
  EXPECT_EQ(weft::query(high, priority()), 7);
  EXPECT_EQ(weft::query(weft::prefer(ex, priority{3}), priority()), 3);
  EXPECT_FALSE(high == ex);
}

struct pointer_context {
  int* p;
  int* query(execution::context_t) const noexcept { return p; }
  template <class F>
  void execute(F f) const {
    f();
  }
  bool operator==(const pointer_context&) const noexcept = default;
};

TEST(any_executor, context_as_any_holds_what_the_target_gives) {
  int value = 5;
  execution::any_executor<execution::context_t> ex = pointer_context{&value};
  EXPECT_EQ(*std::any_cast<int*>(weft::query(ex, execution::context)), 5);
}

TEST(any_executor, nothrow_construction_wraps) {
  manual_context context;
  any_io_executor ex(std::nothrow, context.get_executor());
  EXPECT_TRUE(ex);
  any_io_executor large(std::nothrow, large_executor{&context});
  EXPECT_TRUE(large);
  any_completion_executor other(std::nothrow, large);
  EXPECT_NE(other.target<large_executor>(), nullptr);
  static_assert(noexcept(any_io_executor(std::nothrow, large)));
}

}  // namespace
