// SPDX-License-Identifier: BSL-1.0
#include <weft/async/any_completion_handler.hpp>

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <weft/async/async_result.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/base/error_code.hpp>
#include <weft/context/post.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft::error_code;
using weft_test::counting_allocator;
using weft_test::manual_context;

using handler = weft::any_completion_handler<void(error_code, int)>;

TEST(any_completion_handler, is_empty_by_default_and_throws_when_it_is_called) {
  handler h;
  EXPECT_FALSE(h);
  EXPECT_TRUE(h == nullptr);
  EXPECT_THROW(h(error_code(), 1), std::bad_function_call);
}

TEST(any_completion_handler, calls_a_move_only_handler_once_and_is_empty_then) {
  int result = 0;
  handler h([&, p = std::make_unique<int>(4)](error_code, int n) { result = n + *p; });
  EXPECT_TRUE(h != nullptr);
  handler other(std::move(h));
  EXPECT_TRUE(!h);
  other({}, 1);
  EXPECT_EQ(result, 5);
  EXPECT_FALSE(other);
}

TEST(any_completion_handler, serves_several_signatures) {
  std::string seen;
  struct target {
    void operator()(int n) { *out += std::to_string(n); }
    void operator()(std::string s) { *out += s; }
    std::string* out;
  };
  weft::any_completion_handler<void(int), void(std::string)> a(target{&seen}), b(target{&seen});
  a(1);
  b(std::string("x"));
  EXPECT_EQ(seen, "1x");
}

TEST(any_completion_handler, destroys_an_uncalled_target) {
  auto alive = std::make_shared<int>(0);
  {
    handler h([alive](error_code, int) {});
    h = handler([alive](error_code, int) {});
    EXPECT_EQ(alive.use_count(), 2);
    h = nullptr;
    EXPECT_EQ(alive.use_count(), 1);
    h = [alive](error_code, int) {};
  }
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(any_completion_handler, has_the_targets_executor_slot_and_allocator) {
  manual_context ctx, other;
  weft::cancellation_signal signal;
  weft_test::allocation_counts counts;
  handler h(weft::bind_executor(
      ctx, weft::bind_cancellation_slot(
               signal.slot(),
               weft::bind_allocator(counting_allocator<void>(counts),
                                    [&](error_code, int) { EXPECT_EQ(counts.blocks, 0u); }))));
  EXPECT_EQ(counts.blocks, 1u);
  EXPECT_EQ(weft::get_associated_cancellation_slot(h), signal.slot());
  EXPECT_EQ(weft::get_associated_executor(h, other.get_executor()),
            weft::any_completion_executor(ctx.get_executor()));
  bool ran = false;
  weft::detail::executor_dispatch(
      weft::get_associated_executor(h, other.get_executor()), [&] { ran = true; },
      std::allocator<void>());
  EXPECT_FALSE(ran);
  ctx.run();
  EXPECT_TRUE(ran);
  h({}, 1);
}

TEST(any_completion_handler, falls_back_on_the_candidate_executors) {
  manual_context ctx;
  handler h([](error_code, int) {});
  EXPECT_EQ(weft::get_associated_executor(h, ctx.get_executor()),
            weft::any_completion_executor(ctx.get_executor()));
  auto immediate = weft::get_associated_immediate_executor(h, ctx.get_executor());
  bool ran = false;
  weft::post(ctx, [&] {
    immediate.execute([&] { ran = true; });
    EXPECT_FALSE(ran);
  });
  ctx.run();
  EXPECT_TRUE(ran);
}

TEST(any_completion_handler, has_the_targets_immediate_executor) {
  manual_context ctx;
  handler h(weft::bind_immediate_executor(weft::inline_executor(), [](error_code, int) {}));
  bool ran = false;
  weft::get_associated_immediate_executor(h, ctx.get_executor()).execute([&] { ran = true; });
  EXPECT_TRUE(ran);
}

template <class T>
struct wide_allocator {
  using value_type = T;
  explicit wide_allocator(weft_test::allocation_counts& c) noexcept : inner(c) {}
  template <class U>
  wide_allocator(const wide_allocator<U>& o) noexcept : inner(o.inner) {}
  T* allocate(std::size_t n) { return counting_allocator<T>(inner).allocate(n); }
  void deallocate(T* p, std::size_t n) { counting_allocator<T>(inner).deallocate(p, n); }
  friend bool operator==(const wide_allocator& a, const wide_allocator& b) noexcept {
    return a.inner == b.inner;
  }
  counting_allocator<int> inner;
  std::shared_ptr<int> ballast = std::make_shared<int>(0);
};

template <template <class> class Allocator>
void expect_allocator_outlives_the_handler() {
  weft_test::allocation_counts counts;
  {
    handler h(weft::bind_allocator(Allocator<char>(counts), [](error_code, int) {}));
    using allocator = std::allocator_traits<handler::allocator_type>::rebind_alloc<double>;
    allocator a(weft::get_associated_allocator(h));
    allocator copy = a;
    EXPECT_EQ(a, copy);
    double* p = a.allocate(3);
    h = nullptr;
    copy.deallocate(p, 3);
  }
  EXPECT_GE(counts.allocations, 2u);
  EXPECT_EQ(counts.blocks, 0u);
}

TEST(any_completion_handler_allocator, outlives_its_handler) {
  expect_allocator_outlives_the_handler<counting_allocator>();
  expect_allocator_outlives_the_handler<wide_allocator>();
}

// A separately compiled operation.
void async_answer_impl(handler h, manual_context* ctx, int n) {
  auto allocator = weft::get_associated_allocator(h);
  weft::detail::executor_post(
      ctx->get_executor(), [h = std::move(h), n]() mutable { h({}, n); }, allocator);
}

template <class Token>
auto async_answer(manual_context& ctx, int n, Token&& token) {
  return weft::async_initiate<Token, void(error_code, int)>(&async_answer_impl, token, &ctx, n);
}

TEST(any_completion_handler, lets_an_operation_be_compiled_separately_and_destroyed_uncalled) {
  weft_test::allocation_counts counts;
  int result = 0;
  auto bound = [&] {
    return weft::bind_allocator(counting_allocator<void>(counts),
                                [&](error_code, int n) { result = n; });
  };
  {
    manual_context ctx;
    async_answer(ctx, 42, bound());
    ctx.run();
    EXPECT_EQ(result, 42);
    async_answer(ctx, 43, bound());
  }
  EXPECT_EQ(result, 42);
  EXPECT_EQ(counts.blocks, 0u);
}

}  // namespace
