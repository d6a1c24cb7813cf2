// SPDX-License-Identifier: BSL-1.0
#include <weft/context/strand.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <weft/async/bind_allocator.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/context/defer.hpp>
#include <weft/context/dispatch.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/inline_executor.hpp>

#include "unit/support/counting_allocator.hpp"
#include "unit/support/manual_context.hpp"

namespace {

using weft_test::manual_context;

TEST(strand, runs_functions_in_the_order_posted_and_never_two_at_once) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  std::vector<int> order;
  bool inside = false;
  for (int i = 0; i < 5; ++i)
    weft::post(strand, [&, i] {
      EXPECT_FALSE(std::exchange(inside, true));
      while (ctx.run_one()) {}
      order.push_back(i);
      inside = false;
    });
  ctx.run();
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
}

TEST(strand, submits_itself_once_for_all_that_wait) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  for (int i = 0; i < 100; ++i)
    weft::post(strand, [] {});
  EXPECT_EQ(ctx.submissions(), 1);
  EXPECT_EQ(ctx.run(), 1u);
}

TEST(strand, lets_others_run_before_what_its_functions_post) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  std::vector<int> order;
  weft::post(strand, [&] {
    weft::post(strand, [&] { order.push_back(3); });
    order.push_back(1);
  });
  weft::post(ctx, [&] { order.push_back(2); });
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(strand, with_much_to_do_lets_others_have_their_turn) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  constexpr int many = 10'000;
  int ran = 0;
  int ran_before = 0;
  std::vector<int> order;
  for (int i = 0; i != many; ++i)
    weft::post(strand, [&, i] {
      ++ran;
      order.push_back(i);
    });
  weft::post(ctx, [&] { ran_before = ran; });
  ctx.run();
  EXPECT_GT(ran_before, 0);
  EXPECT_LT(ran_before, many / 10);
  EXPECT_EQ(ran, many);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(strand, may_be_one_of_ten_thousand) {
  manual_context ctx;
  std::vector<weft::strand<manual_context::executor_type>> strands;
  for (int i = 0; i != 10'000; ++i)
    strands.push_back(weft::make_strand(ctx));
  std::vector<int> reached(strands.size());
  for (int round = 0; round != 3; ++round)
    for (std::size_t i = 0; i != strands.size(); ++i)
      weft::post(strands[i], [&reached, i, round] { reached[i] += reached[i] == round; });
  ctx.run();
  EXPECT_EQ(std::count(reached.begin(), reached.end(), 3), 10'000);
}

TEST(strand, dispatches_inline_from_inside_only) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  std::vector<int> order;
  weft::dispatch(strand, [&] {
    EXPECT_TRUE(strand.running_in_this_thread());
    weft::dispatch(strand, [&] { order.push_back(1); });
    weft::post(strand, [&] { order.push_back(3); });
    order.push_back(2);
  });
  EXPECT_FALSE(strand.running_in_this_thread());
  EXPECT_TRUE(order.empty());
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(strand, never_runs_inline_when_blocking_is_never) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  auto never = weft::require(strand, weft::execution::blocking.never);
  EXPECT_EQ(weft::query(never, weft::execution::blocking), weft::execution::blocking.never);
  bool called = false;
  weft::post(strand, [&] {
    never.execute([&] { called = true; });
    EXPECT_FALSE(called);
  });
  ctx.run();
  EXPECT_TRUE(called);
}

TEST(strand, is_equal_to_its_copies_with_other_properties_only) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  auto other = weft::make_strand(ctx);
  EXPECT_EQ(strand, weft::strand<manual_context::executor_type>(strand));
  EXPECT_NE(strand, other);
  weft::strand<weft::any_io_executor> erased = strand;
  EXPECT_NE(erased, weft::make_strand(weft::any_io_executor(ctx.get_executor())));
  bool called = false;
  weft::post(erased, [&] { called = strand.running_in_this_thread(); });
  ctx.run();
  EXPECT_TRUE(called);
}

TEST(strand, leaves_a_throwing_functions_successors_queued_before_the_exception_leaves_run) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  std::vector<int> order;
  weft::post(strand, [&] { order.push_back(1); });
  weft::post(strand, [] { throw std::runtime_error("handler"); });
  weft::post(strand, [&] { order.push_back(2); });
  EXPECT_THROW(ctx.run(), std::runtime_error);
  EXPECT_EQ(ctx.queued(), 1u);
  EXPECT_FALSE(strand.running_in_this_thread());
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(strand, goes_on_inline_when_its_resubmission_fails) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  std::vector<int> order;
  weft::post(strand, [&] {
    order.push_back(1);
    weft::post(strand, [&] { order.push_back(2); });
    ctx.fail_submissions(1);
  });
  EXPECT_EQ(ctx.run(), 1u);
  EXPECT_EQ(order, (std::vector{1, 2}));
  weft::post(strand, [&] { order.push_back(3); });
  ctx.run();
  EXPECT_EQ(order.size(), 3u);
}

TEST(strand, goes_on_inline_after_an_exception_when_its_resubmission_fails) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  bool called = false;
  weft::post(strand, [&] {
    ctx.fail_submissions(1);
    throw std::runtime_error("handler");
  });
  weft::post(strand, [&] { called = true; });
  EXPECT_THROW(ctx.run(), std::runtime_error);
  EXPECT_TRUE(called);
  EXPECT_EQ(ctx.queued(), 0u);
}

TEST(strand, stays_usable_when_the_first_submission_fails) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  bool lost = false, called = false;
  ctx.fail_submissions(1);
  EXPECT_THROW(weft::post(strand, [&] { lost = true; }), std::bad_alloc);
  weft::post(strand, [&] { called = true; });
  ctx.run();
  EXPECT_TRUE(called);
  EXPECT_FALSE(lost);
}

TEST(strand, loses_nothing_when_the_functions_own_allocation_fails) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  weft_test::allocation_counts counts;
  weft_test::counting_allocator<void> allocator(counts);
  int called = 0;
  weft::post(strand, [&] { ++called; });
  counts.fail_after = 0;
  EXPECT_THROW(weft::post(strand, weft::bind_allocator(allocator, [&] { called = 100; })),
               std::bad_alloc);
  weft::post(strand, [&] { ++called; });
  ctx.run();
  EXPECT_EQ(called, 2);
}

TEST(strand, takes_a_functions_memory_from_its_allocator_and_returns_it_before_the_call) {
  manual_context ctx;
  auto strand = weft::make_strand(weft::any_io_executor(ctx.get_executor()));
  weft_test::allocation_counts counts;
  std::size_t in_use = 9;
  weft::post(strand, weft::bind_allocator(weft_test::counting_allocator<void>(counts),
                                          [&] { in_use = counts.blocks; }));
  EXPECT_EQ(counts.blocks, 1u);
  ctx.run();
  EXPECT_EQ(in_use, 0u);
}

TEST(strand, destroys_what_waits_uncalled_with_its_context) {
  auto alive = std::make_shared<int>(0);
  {
    manual_context ctx;
    auto strand = weft::make_strand(ctx);
    weft::post(strand, [alive, strand] { *alive = 1; });
    weft::post(strand, [alive, strand] { *alive = 2; });
  }
  EXPECT_EQ(*alive, 0);
  EXPECT_EQ(alive.use_count(), 1);
}

TEST(strand, may_be_destroyed_after_its_context) {
  std::unique_ptr<weft::strand<manual_context::executor_type>> strand;
  {
    manual_context ctx;
    strand = std::make_unique<weft::strand<manual_context::executor_type>>(ctx.get_executor());
    weft::post(*strand, [] {});
  }
  strand.reset();
}

TEST(strand, works_over_an_executor_in_the_style_of_the_networking_ts) {
  manual_context ctx;
  auto strand = weft::make_strand(weft_test::ts_executor(ctx));
  std::vector<int> order;
  weft::post(strand, [&] {
    order.push_back(1);
    weft::post(strand, [&] { order.push_back(3); });
    weft::dispatch(strand, [&] { order.push_back(2); });
  });
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_EQ(&strand.context(), &ctx);
}

TEST(strand, works_over_another_strand) {
  manual_context ctx;
  auto outer = weft::make_strand(ctx);
  auto inner = weft::make_strand(outer);
  std::vector<int> order;
  weft::post(inner, [&] {
    EXPECT_TRUE(inner.running_in_this_thread());
    EXPECT_TRUE(outer.running_in_this_thread());
    weft::post(inner, [&] { order.push_back(2); });
    order.push_back(1);
  });
  ctx.run();
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(strand, over_the_inline_executor_runs_at_once_also_after_an_exception) {
  weft::strand<weft::inline_executor> strand;
  std::vector<int> order;
  strand.execute([&] { order.push_back(1); });
  EXPECT_THROW(strand.execute([] { throw 1; }), int);
  strand.execute([&] { order.push_back(2); });
  EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(strand, accepts_move_only_functions_and_leaves_an_lvalue_function_intact) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  std::vector<int> data{1, 2, 3};
  auto function = [data] { EXPECT_EQ(data.size(), 3u); };
  weft::post(strand, [&, p = std::make_unique<int>(1)] {
    strand.dispatch(function, std::allocator<void>());
    strand.dispatch(function, std::allocator<void>());
  });
  ctx.run();
}

TEST(strand, serialises_functions_that_many_threads_post_and_run) {
  manual_context ctx;
  auto strand = weft::make_strand(ctx);
  constexpr int threads = 4, posts = 2000;
  int unguarded = 0;
  std::vector<int> last(threads, -1);
  std::atomic<int> done{0};
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      for (int i = 0; i < posts; ++i) {
        weft::post(strand, [&, t, i] {
          ++unguarded;
          EXPECT_EQ(last[static_cast<std::size_t>(t)], i - 1);
          last[static_cast<std::size_t>(t)] = i;
          done.fetch_add(1);
        });
        ctx.run_one();
      }
      while (done.load() < threads * posts)
        if (!ctx.run_one())
          std::this_thread::yield();
    });
  for (auto& t : pool)
    t.join();
  EXPECT_EQ(unguarded, threads * posts);
}

/// An executor of the user's own that calls at once, and then looks at what it holds.
class looking_executor {
 public:
  explicit looking_executor(weft::io_context& context)
      : context_(&context), looks_(std::make_shared<int>(0)) {}

  template <class F>
  void execute(F f) const {
    f();
    ++*looks_;
  }
  weft::execution_context& query(weft::execution::context_t) const noexcept { return *context_; }
  static constexpr auto query(weft::execution::blocking_t) noexcept {
    return weft::execution::blocking.always;
  }
  looking_executor require(weft::execution::blocking_t::never_t) const { return *this; }
  looking_executor require(weft::execution::blocking_t::possibly_t) const { return *this; }
  bool operator==(const looking_executor&) const = default;

 private:
  weft::io_context* context_;
  std::shared_ptr<int> looks_;
};

// What is submitted may own the very executor that it is submitted to.
TEST(submission, may_end_the_executor_it_is_submitted_to) {
  weft::io_context context;
  struct owner {
    explicit owner(weft::io_context& c) : ex(c), strand(ex) {}
    looking_executor ex;
    weft::strand<looking_executor> strand;
  };
  int n = 0;
  auto one = std::make_unique<owner>(context);
  auto& ex = one->ex;
  weft::dispatch(ex, [&n, one = std::move(one)]() mutable {
    one.reset();
    ++n;
  });
  auto two = std::make_unique<owner>(context);
  auto& strand = two->strand;
  weft::post(strand, [&n, two = std::move(two)]() mutable {
    two.reset();
    ++n;
  });
  EXPECT_EQ(n, 2);
}

}  // namespace
