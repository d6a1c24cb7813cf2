// SPDX-License-Identifier: BSL-1.0
#include <weft/async/compose.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/async/use_future.hpp>
#include <weft/base/error.hpp>
#include <weft/context/post.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft::cancellation_type;
using weft::error_code;
using weft_test::manual_context;

/// Posts itself a number of times.
template <class Token>
auto async_hops(manual_context& ctx, int hops, Token&& token) {
  return weft::async_compose<Token, void(error_code, int)>(
      [&ctx, hops, done = 0](auto& self) mutable {
        if (done == hops) {
          self.complete({}, done);
        } else {
          ++done;
          weft::post(ctx, std::move(self));
        }
      },
      token, ctx);
}

TEST(async_compose, calls_the_handler_once_with_the_results) {
  manual_context ctx;
  int result = 0;
  async_hops(ctx, 3, [&, p = std::make_unique<int>(1)](error_code ec, int n) {
    EXPECT_FALSE(ec);
    result = n + *p;
  });
  EXPECT_EQ(ctx.run(), 3u);
  EXPECT_EQ(result, 4);
}

TEST(async_compose, posts_a_completion_inside_the_initiating_function) {
  manual_context ctx;
  bool called = false;
  async_hops(ctx, 0, [&](error_code, int) { called = true; });
  EXPECT_FALSE(called);
  EXPECT_EQ(ctx.run(), 1u);
  EXPECT_TRUE(called);
}

TEST(async_compose, completes_at_once_through_an_immediate_executor) {
  manual_context ctx, own;
  bool called = false;
  async_hops(ctx, 0, weft::bind_immediate_executor(weft::inline_executor(), [&](error_code, int) {
               called = true;
             }));
  EXPECT_TRUE(called);
  called = false;
  async_hops(ctx, 0, weft::bind_executor(own, [&](error_code, int) { called = true; }));
  EXPECT_EQ(ctx.run(), 1u);
  EXPECT_FALSE(called);
  EXPECT_EQ(own.run(), 1u);
  EXPECT_TRUE(called);
}

TEST(async_compose, runs_its_steps_in_the_handlers_executor_and_keeps_work_on_both) {
  manual_context io, own;
  bool called = false;
  auto handler = weft::bind_executor(own, [&](error_code, int) { called = true; });
  async_hops(io, 2, handler);
  EXPECT_GE(io.work(), 1);
  EXPECT_GE(own.work(), 1);
  while (io.run() + own.run() > 0) {}
  EXPECT_TRUE(called);
  EXPECT_EQ(io.work(), 0);
  EXPECT_EQ(own.work(), 0);
}

TEST(async_compose, forwards_the_allocator_and_has_returned_all_memory_before_the_handler) {
  manual_context ctx;
  weft_test::allocation_counts counts;
  std::size_t in_use = 9;
  async_hops(ctx, 2,
             weft::bind_allocator(weft_test::counting_allocator<void>(counts),
                                  [&](error_code, int) { in_use = counts.blocks; }));
  EXPECT_EQ(counts.blocks, 1u);
  ctx.run();
  EXPECT_EQ(in_use, 0u);
}

TEST(async_compose, lets_terminal_cancellation_through_unless_reset) {
  manual_context ctx;
  weft::cancellation_signal signal;
  std::vector<cancellation_type> seen;
  auto implementation = [&, step = 0](auto& self) mutable {
    if (step == 1)
      self.reset_cancellation_state(weft::enable_total_cancellation());
    seen.push_back(self.cancelled());
    if (step++ == 2)
      self.complete();
    else
      weft::post(ctx, std::move(self));
  };
  auto handler = weft::bind_cancellation_slot(signal.slot(), [] {});
  weft::async_compose<decltype(handler)&, void()>(std::move(implementation), handler, ctx);
  signal.emit(cancellation_type::total);
  signal.emit(cancellation_type::terminal);
  ctx.run_one();
  signal.emit(cancellation_type::total);
  ctx.run_one();
  EXPECT_EQ(seen, (std::vector{cancellation_type::none, cancellation_type::none,
                               cancellation_type::total}));
  EXPECT_FALSE(signal.slot().has_handler());
}

TEST(async_compose, passes_a_request_on_to_the_operation_in_progress) {
  manual_context ctx;
  weft::cancellation_signal signal;
  bool reached = false;
  auto handler = weft::bind_cancellation_slot(signal.slot(), [] {});
  weft::async_compose<decltype(handler)&, void()>(
      [&, first = true](auto& self) mutable {
        if (std::exchange(first, false)) {
          self.get_cancellation_slot().assign([&](cancellation_type) { reached = true; });
          weft::post(ctx, std::move(self));
        } else {
          EXPECT_FALSE(self.get_cancellation_state().slot().has_handler());
          self.complete();
        }
      },
      handler, ctx);
  signal.emit(cancellation_type::terminal);
  EXPECT_TRUE(reached);
  ctx.run();
}

TEST(composed, is_an_initiation_with_arguments_and_several_signatures) {
  manual_context ctx;
  auto initiate = [&](int start, auto&& token) {
    return weft::async_initiate<decltype(token), void(int), void(error_code, int)>(
        weft::composed<void(int), void(error_code, int)>(
            [&ctx, first = true](auto& self, int n = 0) mutable {
              if (std::exchange(first, false)) {
                EXPECT_EQ(self.get_io_executor(), ctx.get_executor());
                weft::post(ctx, [self = std::move(self), n]() mutable { self(n); });
              } else if (n > 1) {
                self.complete(weft::error::eof, n);
              } else {
                self.complete(n);
              }
            },
            ctx),
        token, start);
  };
  struct handler {
    void operator()(int n) { results->push_back(n); }
    void operator()(error_code, int n) { results->push_back(-n); }
    std::vector<int>* results;
  };
  std::vector<int> results;
  initiate(1, handler{&results});
  auto later = initiate(2, weft::deferred);
  ctx.run();
  std::move(later)(handler{&results});
  ctx.run();
  EXPECT_EQ(results, (std::vector{1, -2}));
}

/// Completes, after a turn through the context, with an error and its argument.
struct echo_implementation {
  manual_context* ctx;
  bool first = true;

  template <class Self>
  void operator()(Self& self, error_code ec, std::size_t times) {
    if (std::exchange(first, false))
      weft::post(*ctx,
                 [self = std::move(self), times]() mutable { self(weft::error::eof, times); });
    else
      self.complete(ec, times);
  }
};

template <weft::completion_token_for<void(error_code, std::size_t)> Token>
auto async_echo(manual_context& ctx, Token&& token) {
  return weft::async_initiate<Token, void(error_code, std::size_t)>(
      weft::composed(echo_implementation{&ctx}, ctx), token, error_code(), 3);
}

TEST(composed, takes_the_signatures_of_async_initiate_if_it_has_none) {
  manual_context ctx;
  error_code ec;
  std::size_t n = 0;
  async_echo(ctx, [&](error_code e, std::size_t k) {
    ec = e;
    n = k;
  });
  EXPECT_EQ(n, 0u);
  ctx.run();
  EXPECT_EQ(ec, weft::error::eof);
  EXPECT_EQ(n, 3u);

  auto future = async_echo(ctx, weft::as_tuple(weft::use_future));
  ctx.run();
  EXPECT_EQ(future.get(), std::tuple(error_code(weft::error::eof), std::size_t(3)));

  async_echo(ctx, weft::deferred)([&](error_code, std::size_t k) { n = k + 1; });
  ctx.run();
  EXPECT_EQ(n, 4u);
}

TEST(composed, without_signatures_keeps_copies_of_results_for_later) {
  manual_context ctx;
  std::string text;
  weft::async_initiate<const weft::deferred_t&, void(std::string)>(
      weft::composed(
          [](auto& self) {
            std::string local(100, 'x');
            self.complete(local);
            local.assign(100, 'y');
          },
          ctx),
      weft::deferred)([&](std::string s) { text = std::move(s); });
  EXPECT_EQ(text, "");
  ctx.run();
  EXPECT_EQ(text, std::string(100, 'x'));
}

TEST(async_compose, without_objects_completes_inline_where_nothing_can_be_posted) {
  auto f = weft::async_compose<const weft::use_future_t<>&, void(int)>(
      [](auto& self) { self.complete(5); }, weft::use_future);
  EXPECT_EQ(f.get(), 5);
}

TEST(async_compose, destroys_the_handler_uncalled_with_the_context) {
  auto alive = std::make_shared<int>(0);
  {
    manual_context ctx;
    async_hops(ctx, 2, [alive](error_code, int) { *alive = 1; });
    EXPECT_EQ(alive.use_count(), 2);
  }
  EXPECT_EQ(alive.use_count(), 1);
  EXPECT_EQ(*alive, 0);
}

// An executor of somebody else's, which takes a recursive lock around each function: with it, an
// object is guarded in composed operations too, against anyone who takes the same lock.
class locking_executor {
 public:
  locking_executor(manual_context& c, std::recursive_mutex& m) noexcept
      : context_(&c), mutex_(&m) {}

  manual_context& query(weft::execution::context_t) const noexcept { return *context_; }
  static constexpr weft::execution::blocking_t query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.never;
  }
  template <class Function>
  void execute(Function f) const {
    weft::post(*context_, [f = std::move(f), m = mutex_]() mutable {
      std::lock_guard lock(*m);
      std::move(f)();
    });
  }
  friend bool operator==(const locking_executor&, const locking_executor&) noexcept = default;

 private:
  manual_context* context_;
  std::recursive_mutex* mutex_;
};

struct guarded_object {
  using executor_type = manual_context::executor_type;
  executor_type get_executor() const noexcept { return ctx->get_executor(); }

  template <class Token>
  auto async_add(int times, Token&& token) {
    return weft::async_compose<Token, void()>(
        [this, times](auto& self) mutable {
          ++value;
          if (--times == 0)
            self.complete();
          else
            weft::post(ctx->get_executor(), std::move(self));
        },
        token, *this);
  }

  manual_context* ctx;
  int value = 0;
};

TEST(user_written_executor, with_a_recursive_lock_guards_composed_operations) {
  manual_context ctx;
  std::recursive_mutex mutex;
  guarded_object object{&ctx};
  locking_executor guard(ctx, mutex);
  EXPECT_EQ(guard, guard);
  constexpr int operations = 50, steps = 20, direct = 500;
  int completed = 0;
  {
    std::lock_guard lock(mutex);
    for (int i = 0; i < operations; ++i)
      object.async_add(steps, weft::bind_executor(guard, [&] { ++completed; }));
  }
  std::vector<std::thread> pool;
  for (int t = 0; t < 3; ++t)
    pool.emplace_back([&] {
      for (int i = 0; i < direct; ++i) {
        ctx.run_one();
        std::lock_guard lock(mutex);
        ++object.value;
      }
      for (bool all = false; !all;) {
        ctx.run();
        std::lock_guard lock(mutex);
        all = completed == operations;
      }
    });
  for (auto& t : pool)
    t.join();
  EXPECT_EQ(object.value, operations * steps + 3 * direct);
}

}  // namespace
