// SPDX-License-Identifier: BSL-1.0
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/append.hpp>
#include <weft/async/as_tuple.hpp>
#include <weft/async/async_immediate.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/async/consign.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/packaged_task.hpp>
#include <weft/async/prepend.hpp>
#include <weft/async/redirect_disposition.hpp>
#include <weft/async/redirect_error.hpp>
#include <weft/async/use_future.hpp>
#include <weft/base/error.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft::error_code;
using weft_test::manual_context;

/// An operation that posts its results to the context.
struct initiate_give {
  using executor_type = manual_context::executor_type;
  executor_type get_executor() const noexcept { return ctx->get_executor(); }

  template <class Handler, class... Results>
  void operator()(Handler handler, Results... results) const {
    auto ex = weft::get_associated_executor(handler, ctx->get_executor());
    weft::detail::executor_post(
        ex,
        [h = std::move(handler), values = std::make_tuple(std::move(results)...)]() mutable {
          std::apply(std::move(h), std::move(values));
        },
        std::allocator<void>());
  }

  manual_context* ctx;
};

template <class Signature, class Token, class... Results>
auto async_give(manual_context& ctx, Token&& token, Results... results) {
  return weft::async_initiate<Token, Signature>(initiate_give{&ctx}, token, std::move(results)...);
}

using read_signature = void(error_code, std::size_t);

class tokens : public testing::Test {
 protected:
  manual_context ctx;
};

TEST_F(tokens, append_adds_values_after_the_results) {
  std::string seen;
  async_give<read_signature>(
      ctx,
      weft::append([&](error_code ec, std::size_t n, std::unique_ptr<int> p,
                       std::string s) { seen = s + std::to_string(n + *p) + (ec ? "!" : ""); },
                   std::make_unique<int>(2), std::string("x")),
      error_code(), std::size_t(3));
  ctx.run();
  EXPECT_EQ(seen, "x5");
}

TEST_F(tokens, prepend_adds_values_before_the_results) {
  int seen = 0;
  async_give<read_signature>(
      ctx,
      weft::prepend(
          [&](int a, int b, error_code, std::size_t n) { seen = a * 100 + b * 10 + int(n); }, 1, 2),
      error_code(), std::size_t(3));
  ctx.run();
  EXPECT_EQ(seen, 123);
}

TEST_F(tokens, consign_keeps_values_until_the_handler_has_been_called) {
  auto value = std::make_shared<int>(1);
  std::weak_ptr<int> watch = value;
  bool alive = false;
  async_give<void()>(ctx, weft::consign([&] { alive = !watch.expired(); }, std::move(value)));
  EXPECT_FALSE(watch.expired());
  ctx.run();
  EXPECT_TRUE(alive);
  EXPECT_TRUE(watch.expired());
}

TEST_F(tokens, as_tuple_passes_all_results_as_one) {
  std::tuple<error_code, std::size_t> seen;
  async_give<read_signature>(ctx, weft::as_tuple([&](auto t) { seen = t; }),
                             error_code(weft::error::eof), std::size_t(3));
  ctx.run();
  EXPECT_EQ(std::get<0>(seen), weft::error::eof);
  EXPECT_EQ(std::get<1>(seen), 3u);
}

TEST_F(tokens, as_tuple_as_a_token_adapts_the_default_token) {
  auto op = async_give<read_signature>(ctx, weft::as_tuple, error_code(), std::size_t(3));
  static_assert(std::is_same_v<weft::completion_signature_of_t<decltype(op)>,
                               void(std::tuple<error_code, std::size_t>)>);
  std::size_t n = 0;
  std::move(op)([&](std::tuple<error_code, std::size_t> t) { n = std::get<1>(t); });
  ctx.run();
  EXPECT_EQ(n, 3u);
}

TEST_F(tokens, redirect_error_captures_the_error_and_overwrites_it_on_success) {
  error_code ec = weft::error::broken_pipe;
  std::future<std::size_t> f =
      async_give<read_signature>(ctx, weft::redirect_error(weft::use_future, ec),
                                 error_code(weft::error::eof), std::size_t(3));
  ctx.run();
  EXPECT_EQ(f.get(), 3u);
  EXPECT_EQ(ec, weft::error::eof);
  auto op = async_give<read_signature>(ctx, weft::redirect_error(ec), error_code(), std::size_t(4));
  std::size_t n = 0;
  std::move(op)([&](std::size_t m) { n = m; });
  ctx.run();
  EXPECT_EQ(n, 4u);
  EXPECT_FALSE(ec);
}

TEST_F(tokens, redirect_error_leaves_operations_without_an_error_alone) {
  error_code ec;
  int n = 0;
  async_give<void(int)>(ctx, weft::redirect_error([&](int m) { n = m; }, ec), 7);
  ctx.run();
  EXPECT_EQ(n, 7);
}

struct failure {
  int code = 0;
};

}  // namespace

template <>
struct weft::disposition_traits<failure> {
  static bool not_an_error(const failure& f) noexcept { return f.code == 0; }
  static void throw_exception(failure f) { throw f.code; }
  static std::exception_ptr to_exception_ptr(failure f) noexcept {
    return f.code ? std::make_exception_ptr(f.code) : nullptr;
  }
};

namespace {

TEST_F(tokens, redirect_disposition_captures_any_disposition_as_an_exception) {
  std::exception_ptr e;
  std::size_t n = 0;
  auto handler = [&](std::size_t m) { n = m; };
  async_give<read_signature>(ctx, weft::redirect_disposition(handler, e),
                             error_code(weft::error::eof), std::size_t(3));
  ctx.run();
  EXPECT_THROW(std::rethrow_exception(e), weft::system_error);
  async_give<void(failure, std::size_t)>(ctx, weft::redirect_disposition(handler, e), failure{5},
                                         std::size_t(4));
  ctx.run();
  EXPECT_THROW(std::rethrow_exception(e), int);
  async_give<void(std::exception_ptr, std::size_t)>(ctx, weft::redirect_disposition(handler, e),
                                                    std::exception_ptr(), std::size_t(5));
  ctx.run();
  EXPECT_EQ(e, nullptr);
  EXPECT_EQ(n, 5u);
}

TEST_F(tokens, redirect_disposition_captures_its_own_type_only) {
  error_code ec;
  std::size_t n = 0;
  async_give<read_signature>(ctx, weft::redirect_disposition(ec)([&](std::size_t m) { n = m; }),
                             error_code(weft::error::eof), std::size_t(3));
  ctx.run();
  EXPECT_EQ(ec, weft::error::eof);
  EXPECT_EQ(n, 3u);
  int code = 0;
  async_give<void(failure)>(ctx, weft::redirect_disposition([&](failure f) { code = f.code; }, ec),
                            failure{6});
  ctx.run();
  EXPECT_EQ(code, 6);
}

TEST(disposition, compares_with_no_error) {
  static_assert(weft::is_disposition_v<error_code> && weft::is_disposition_v<std::exception_ptr> &&
                weft::is_disposition_v<failure> && weft::is_disposition_v<weft::no_error_t>);
  static_assert(!weft::is_disposition_v<int>);
  EXPECT_TRUE(error_code() == weft::no_error);
  EXPECT_TRUE(weft::no_error != failure{1});
  EXPECT_THROW(weft::throw_exception(failure{3}), int);
  EXPECT_EQ(weft::to_exception_ptr(error_code()), nullptr);
  EXPECT_THROW(weft::throw_exception(error_code(weft::error::eof)), weft::system_error);
}

TEST_F(tokens, detached_ignores_the_results) {
  async_give<read_signature>(ctx, weft::detached, error_code(weft::error::eof), std::size_t(3));
  EXPECT_EQ(ctx.run(), 1u);
}

TEST_F(tokens, use_future_gives_a_future_of_the_results_for_every_signature) {
  std::future<void> nothing = async_give<void()>(ctx, weft::use_future);
  std::future<int> one = async_give<void(int)>(ctx, weft::use_future, 1);
  std::future<std::tuple<int, std::string>> two =
      async_give<void(int, std::string)>(ctx, weft::use_future, 2, std::string("b"));
  std::future<void> ok = async_give<void(error_code)>(ctx, weft::use_future, error_code());
  std::future<void> failed =
      async_give<void(error_code)>(ctx, weft::use_future, error_code(weft::error::eof));
  std::future<std::size_t> read = async_give<read_signature>(
      ctx, weft::use_future, error_code(weft::error::eof), std::size_t(3));
  std::future<std::tuple<int, int>> pair =
      async_give<void(error_code, int, int)>(ctx, weft::use_future, error_code(), 3, 4);
  std::future<std::unique_ptr<int>> moved =
      async_give<void(std::exception_ptr, std::unique_ptr<int>)>(
          ctx, weft::use_future, std::exception_ptr(), std::make_unique<int>(5));
  std::future<int> thrown = async_give<void(std::exception_ptr, int)>(
      ctx, weft::use_future, std::make_exception_ptr(6), 0);
  std::future<int> own = async_give<void(failure, int)>(ctx, weft::use_future, failure{7}, 0);
  ctx.run();
  nothing.get();
  EXPECT_EQ(one.get(), 1);
  EXPECT_EQ(two.get(), std::tuple(2, std::string("b")));
  ok.get();
  EXPECT_THROW(failed.get(), weft::system_error);
  EXPECT_THROW(read.get(), weft::system_error);
  EXPECT_EQ(pair.get(), std::tuple(3, 4));
  EXPECT_EQ(*moved.get(), 5);
  EXPECT_THROW(thrown.get(), int);
  EXPECT_THROW(own.get(), int);
}

TEST_F(tokens, use_future_with_a_function_gives_what_it_returns_or_throws) {
  std::future<int> f = async_give<read_signature>(
      ctx, weft::use_future([](error_code ec, std::size_t n) { return ec ? -1 : int(n); }),
      error_code(), std::size_t(3));
  std::future<void> thrown =
      async_give<void(int)>(ctx, weft::use_future([](int) { throw std::string("no"); }), 1);
  ctx.run();
  EXPECT_EQ(f.get(), 3);
  EXPECT_THROW(thrown.get(), std::string);
}

TEST_F(tokens, use_future_takes_its_state_from_the_allocator) {
  weft_test::allocation_counts counts;
  {
    std::future<int> f = async_give<void(int)>(
        ctx, weft::use_future[weft_test::counting_allocator<void>(counts)], 8);
    EXPECT_GT(counts.allocations, 0u);
    ctx.run();
    EXPECT_EQ(f.get(), 8);
  }
  EXPECT_EQ(counts.blocks, 0u);
}

TEST(use_future, reports_a_broken_promise_when_the_context_is_destroyed) {
  std::future<int> f;
  {
    manual_context ctx;
    f = async_give<void(int)>(ctx, weft::use_future, 8);
  }
  EXPECT_THROW(f.get(), std::future_error);
}

TEST_F(tokens, packaged_task_is_handler_and_result) {
  std::packaged_task<int(error_code, std::size_t)> task(
      [](error_code, std::size_t n) { return int(n) * 2; });
  std::future<int> f =
      async_give<read_signature>(ctx, std::move(task), error_code(), std::size_t(3));
  ctx.run();
  EXPECT_EQ(f.get(), 6);
}

TEST_F(tokens, adapters_nest_and_keep_the_associations) {
  manual_context own;
  error_code ec;
  std::size_t n = 0;
  int tag = 0;
  async_give<read_signature>(
      ctx,
      weft::bind_executor(own, weft::redirect_error(weft::append(
                                                        [&](std::size_t m, int t) {
                                                          n = m;
                                                          tag = t;
                                                        },
                                                        9),
                                                    ec)),
      error_code(weft::error::eof), std::size_t(3));
  EXPECT_EQ(ctx.run(), 0u);
  EXPECT_EQ(own.run(), 1u);
  EXPECT_EQ(n, 3u);
  EXPECT_EQ(tag, 9);
}

TEST_F(tokens, binders_without_a_target_adapt_the_default_token) {
  manual_context own;
  auto op = async_give<void(int)>(ctx, weft::bind_executor(own), 1);
  int n = 0;
  std::move(op)([&](int m) { n = m; });
  EXPECT_EQ(own.run(), 1u);
  EXPECT_EQ(n, 1);
}

TEST_F(tokens, a_bound_future_completes_in_the_executor) {
  manual_context own;
  std::future<int> f = async_give<void(int)>(ctx, weft::bind_executor(own, weft::use_future), 1);
  ctx.run();
  EXPECT_EQ(own.run(), 1u);
  EXPECT_EQ(f.get(), 1);
}

TEST(executor_binder, constructs_a_target_that_uses_executors_with_it_and_converts) {
  manual_context ctx;
  auto bound = weft::bind_executor(ctx, [](int n) { return n + 1; });
  EXPECT_EQ(bound(1), 2);
  EXPECT_EQ(std::as_const(bound)(2), 3);
  weft::executor_binder<std::function<int(int)>, manual_context::executor_type> converted(bound);
  EXPECT_EQ(converted(3), 4);
  using pointer = int (*)(int);
  static_assert(
      std::is_same_v<weft::executor_binder<pointer, manual_context::executor_type>::result_type,
                     int>);
  static_assert(
      std::is_same_v<weft::executor_binder<pointer, manual_context::executor_type>::argument_type,
                     int>);
}

TEST_F(tokens, async_immediate_posts_unless_an_immediate_executor_is_bound) {
  int calls = 0;
  weft::async_immediate(ctx, [&] { ++calls; });
  EXPECT_EQ(calls, 0);
  weft::async_immediate(ctx.get_executor(),
                        weft::bind_immediate_executor(weft::inline_executor(), [&] { ++calls; }));
  EXPECT_EQ(calls, 1);
  ctx.run();
  EXPECT_EQ(calls, 2);
}

}  // namespace
