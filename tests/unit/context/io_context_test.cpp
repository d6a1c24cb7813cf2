// SPDX-License-Identifier: BSL-1.0
#include <weft/context/io_context.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/base/error_code.hpp>
#include <weft/execution/executor_work_guard.hpp>

#include "support/backend.hpp"

namespace {

using namespace std::chrono_literals;

using io_context_on = weft_test::backend_test;
WEFT_INSTANTIATE_BACKENDS(io_context_on);

template <class F>
void post(weft::io_context& context, F f) {
  context.get_executor().post(std::move(f), std::allocator<void>());
}

auto guard(weft::io_context& context) {
  return weft::make_work_guard(context.get_executor());
}

TEST_P(io_context_on, run_without_work_returns_and_is_stopped) {
  EXPECT_EQ(context.run(), 0u);
  EXPECT_TRUE(context.stopped());
  context.restart();
  EXPECT_FALSE(context.stopped());
}

TEST_P(io_context_on, backend_is_the_one_asked_for) {
  EXPECT_EQ(context.backend(), GetParam());
}

TEST_P(io_context_on, handlers_run_in_the_order_of_their_posting) {
  std::vector<int> order;
  for (int i = 0; i < 1000; ++i)
    post(context, [&order, i] { order.push_back(i); });
  EXPECT_EQ(context.run(), 1000u);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_P(io_context_on, a_post_that_happens_after_anothers_runs_after_it) {
  for (int round = 0; round < 200; ++round) {
    std::vector<int> order;
    std::promise<void> posted;
    post(context, [&] {
      std::thread other([&] { post(context, [&] { order.push_back(1); }); });
      other.join();
      post(context, [&] { order.push_back(2); });
    });
    context.run();
    context.restart();
    ASSERT_EQ(order, (std::vector<int>{1, 2}));
  }
}

TEST_P(io_context_on, run_counts_handlers_that_handlers_post) {
  int n = 0;
  std::function<void()> next = [&] {
    if (++n < 500)
      post(context, next);
  };
  post(context, next);
  EXPECT_EQ(context.run(), 500u);
}

TEST_P(io_context_on, run_one_runs_one) {
  int n = 0;
  post(context, [&] { ++n; });
  post(context, [&] { ++n; });
  EXPECT_EQ(context.run_one(), 1u);
  EXPECT_EQ(n, 1);
  EXPECT_FALSE(context.stopped());
  EXPECT_EQ(context.run_one(), 1u);
  EXPECT_TRUE(context.stopped());
  EXPECT_EQ(context.run_one(), 0u);
}

TEST_P(io_context_on, poll_runs_what_is_ready_and_does_not_wait) {
  auto work = guard(context);
  int n = 0;
  EXPECT_EQ(context.poll(), 0u);
  EXPECT_FALSE(context.stopped());
  post(context, [&] { post(context, [&] { ++n; }); });
  EXPECT_EQ(context.poll(), 2u);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(context.poll_one(), 0u);
}

TEST_P(io_context_on, run_for_returns_when_the_time_has_passed) {
  auto work = guard(context);
  EXPECT_EQ(context.run_for(1ms), 0u);
  EXPECT_FALSE(context.stopped());
  EXPECT_EQ(context.run_one_until(std::chrono::system_clock::now() + 1ms), 0u);
  EXPECT_EQ(context.run_for(-1s), 0u);
}

TEST_P(io_context_on, run_until_a_time_that_has_passed_does_nothing) {
  int ran = 0;
  const auto past = std::chrono::steady_clock::now() - 1s;
  EXPECT_EQ(context.run_until(past), 0u);
  EXPECT_EQ(context.run_one_until(past), 0u);
  EXPECT_FALSE(context.stopped()) << "it has not even looked whether there is work";
  post(context, [&] { ++ran; });
  EXPECT_EQ(context.run_until(past), 0u);
  EXPECT_EQ(context.run(), 1u);
  EXPECT_EQ(ran, 1);
}

TEST_P(io_context_on, stop_ends_run_and_keeps_what_is_queued) {
  int n = 0;
  post(context, [&] { context.stop(); });
  post(context, [&] { ++n; });
  EXPECT_EQ(context.run(), 1u);
  EXPECT_EQ(n, 0);
  context.restart();
  EXPECT_EQ(context.run(), 1u);
  EXPECT_EQ(n, 1);
}

TEST_P(io_context_on, stop_from_another_thread_ends_a_waiting_run) {
  auto work = guard(context);
  for (int i = 0; i < 100; ++i) {
    std::thread other([&] { context.stop(); });
    context.run();
    other.join();
    context.restart();
  }
}

TEST_P(io_context_on, releasing_the_last_guard_elsewhere_ends_run) {
  for (int i = 0; i < 200; ++i) {
    auto work = std::make_unique<decltype(guard(context))>(guard(context));
    std::thread other([&] { work.reset(); });
    context.run();
    other.join();
    EXPECT_TRUE(context.stopped());
    context.restart();
  }
}

TEST_P(io_context_on, a_guard_made_in_a_handler_and_released_elsewhere_loses_no_handler) {
  for (int i = 0; i < 200; ++i) {
    int n = 0;
    post(context, [&] {
      auto work = std::make_unique<decltype(guard(context))>(guard(context));
      std::thread other([&] { work.reset(); });
      other.join();
      post(context, [&] { ++n; });
    });
    context.run();
    ASSERT_EQ(n, 1);
    context.restart();
  }
}

TEST_P(io_context_on, an_exception_leaves_run_and_loses_nothing_else) {
  int n = 0;
  post(context, [] { throw std::runtime_error("from a handler"); });
  post(context, [&] { ++n; });
  EXPECT_THROW(context.run(), std::runtime_error);
  EXPECT_EQ(n, 0);
  EXPECT_EQ(context.run(), 1u);
  EXPECT_EQ(n, 1);
}

TEST_P(io_context_on, destruction_destroys_handlers_uncalled) {
  auto token = std::make_shared<int>(0);
  {
    weft::io_context doomed{weft_test::make_context_options(GetParam())};
    post(doomed, [token] { FAIL(); });
    EXPECT_EQ(token.use_count(), 2);
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST_P(io_context_on, dispatch_runs_inline_only_inside_run) {
  const auto executor = context.get_executor();
  bool ran = false;
  executor.execute([&] { ran = true; });
  EXPECT_FALSE(ran);
  context.run();
  EXPECT_TRUE(ran);
  context.restart();
  post(context, [&] {
    bool inner = false;
    executor.execute([&] { inner = true; });
    EXPECT_TRUE(inner);
    EXPECT_TRUE(executor.running_in_this_thread());
  });
  context.run();
  EXPECT_FALSE(executor.running_in_this_thread());
}

TEST_P(io_context_on, many_threads_run_every_handler_once) {
  std::atomic<int> n{0};
  constexpr int posters = 3, per_poster = 20'000;
  auto work = std::make_unique<decltype(guard(context))>(guard(context));
  std::vector<std::thread> runners, others;
  for (int i = 0; i < 3; ++i)
    runners.emplace_back([&] { context.run(); });
  for (int i = 0; i < posters; ++i)
    others.emplace_back([&] {
      for (int k = 0; k < per_poster; ++k)
        post(context, [&] { n.fetch_add(1, std::memory_order_relaxed); });
    });
  for (auto& t : others)
    t.join();
  work.reset();
  for (auto& t : runners)
    t.join();
  EXPECT_EQ(n.load(), posters * per_poster);
}

TEST_P(io_context_on, threads_that_come_and_go_lose_nothing) {
  std::atomic<int> n{0}, posted{0};
  constexpr int total = 20'000;
  auto work = std::make_unique<decltype(guard(context))>(guard(context));
  std::thread steady([&] { context.run(); });
  std::atomic<bool> done{false};
  std::thread visitor([&] {
    while (!done)
      context.poll_one();
  });
  for (int i = 0; i < total; ++i) {
    posted.fetch_add(1);
    post(context, [&] {
      if (n.fetch_add(1) % 2 != 0)
        return;
      posted.fetch_add(1);
      post(context, [&] { n.fetch_add(1); });
    });
  }
  work.reset();
  steady.join();
  done = true;
  visitor.join();
  context.restart();
  context.run();
  EXPECT_EQ(n.load(), posted.load());
}

// P9, and the line of design.md for io_context{1}: a second thread in run() stays correct. The
// first handler blocks until the ones behind it, and those posted later, have run elsewhere.
TEST_P(io_context_on, a_blocked_handler_holds_up_nobody_with_a_second_thread) {
  for (int hint : {-1, 1, 2}) {
    weft::io_context shared{weft_test::make_context_options(GetParam(), hint)};
    std::promise<void> inner, outer;
    post(shared, [&] {
      post(shared, [&] { inner.set_value(); });
      std::thread([&] { post(shared, [&] { outer.set_value(); }); }).join();
      inner.get_future().wait();
      outer.get_future().wait();
    });
    std::thread second([&] { shared.run(); });
    shared.run();
    second.join();
  }
}

// The same when the second thread enters only once the first is blocked already.
TEST_P(io_context_on, a_second_thread_takes_what_a_blocked_one_has_queued) {
  weft::io_context shared{weft_test::make_context_options(GetParam(), 1)};
  std::promise<void> inner;
  std::latch blocked(1);
  post(shared, [&] {
    post(shared, [&] { inner.set_value(); });
    blocked.count_down();
    inner.get_future().wait();
  });
  std::thread first([&] { shared.run(); });
  blocked.wait();
  shared.run();
  first.join();
}

TEST_P(io_context_on, run_nested_in_a_handler_runs_what_is_queued) {
  int n = 0;
  post(context, [&] {
    post(context, [&] { ++n; });
    EXPECT_EQ(context.poll(), 1u);
    EXPECT_EQ(n, 1);
    post(context, [&] { ++n; });
  });
  EXPECT_EQ(context.run(), 2u);
  EXPECT_EQ(n, 2);
}

TEST_P(io_context_on, run_one_nested_in_a_handler_keeps_the_order) {
  std::string order;
  post(context, [&] {
    order += 'a';
    EXPECT_EQ(context.poll_one(), 1u);
    post(context, [&] { order += 'f'; });
  });
  for (char c : {'b', 'c', 'd'})
    post(context, [&, c] { order += c; });
  context.run();
  EXPECT_EQ(order, "abcdf");
}

// P6 holds for calls nested in a handler: there is one thread.
TEST_P(io_context_on, nested_in_a_handler_the_order_of_many_posts_is_kept) {
  std::vector<int> order;
  post(context, [&] {
    post(context, [&] {
      order.push_back(0);
      post(context, [&] { order.push_back(1000); });
    });
    for (int i = 1; i != 300; ++i)
      post(context, [&, i] { order.push_back(i); });
    std::thread([&] { post(context, [&] { order.push_back(300); }); }).join();
    post(context, [&] { order.push_back(301); });
    EXPECT_EQ(context.poll(), 303u);
  });
  context.run();
  ASSERT_EQ(order.size(), 303u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(io_context, single_thread_runs_what_its_thread_posts) {
  weft::io_context context(weft::single_thread);
  int n = 0;
  post(context, [&] { post(context, [&] { ++n; }); });
  EXPECT_EQ(context.run(), 2u);
  EXPECT_EQ(n, 1);
}

TEST(io_context_death, single_thread_used_from_a_second_thread_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        weft::io_context context(weft::single_thread);
        post(context, [] {});
        context.run();
        std::thread([&] { context.run(); }).join();
      },
      "used from a second thread");
}

TEST(io_context, an_unknown_backend_in_the_environment_is_an_error) {
  ::setenv("WEFT_BACKEND", "kqueue", 1);
  EXPECT_THROW(weft::io_context(), weft::system_error);
  ::setenv("WEFT_BACKEND", "epoll", 1);
  EXPECT_EQ(weft::io_context().backend(), weft::backend_kind::epoll);
  ::unsetenv("WEFT_BACKEND");
  EXPECT_NO_THROW(weft::io_context());
}

class counter : public weft::io_context::service {
 public:
  static weft::execution_context::id id;
  explicit counter(weft::io_context& owner) : weft::io_context::service(owner) {}
  weft::io_context& owner() { return get_io_context(); }

 private:
  void shutdown() override {}
};

weft::execution_context::id counter::id;

TEST_P(io_context_on, a_service_of_io_contexts_alone_knows_its_own_as_one) {
  auto& made = weft::use_service<counter>(context);
  EXPECT_EQ(&made.owner(), &context);
  EXPECT_EQ(&weft::use_service<counter>(context), &made);
  EXPECT_TRUE(weft::has_service<counter>(context));
}

}  // namespace
