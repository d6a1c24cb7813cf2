// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/resume_event.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/callable.hpp>
#include <weft/coro/co_spawn.hpp>

#include "support/misuse.hpp"

namespace {

using weft::callable;
using weft::full_notification;
using weft::plain_notification;
using weft::resume_event;
using weft_test::expect_assertion;
namespace sharing = weft::sharing;

template <class Sharing>
class resume_event_of : public testing::Test {};
using policies = testing::Types<sharing::local, sharing::concurrent>;
TYPED_TEST_SUITE(resume_event_of, policies);

template <class Event, class T>
callable<> collect(Event& event, std::vector<T>& taken) {
  for (;;)
    taken.push_back(co_await event);
}

TYPED_TEST(resume_event_of, each_resumption_runs_the_coroutine_to_its_next_wait) {
  resume_event<int, TypeParam> event;
  std::vector<int> taken;
  auto c = collect(event, taken);
  c.start();
  EXPECT_TRUE(event.resume(1));
  EXPECT_EQ(taken, (std::vector{1}));
  EXPECT_TRUE(event.resume(2));
  EXPECT_EQ(taken, (std::vector{1, 2}));
  EXPECT_FALSE(event.has_value());
}

TYPED_TEST(resume_event_of, one_value_is_kept_until_a_coroutine_waits) {
  resume_event<std::unique_ptr<int>, TypeParam> event;
  EXPECT_TRUE(event.resume(std::make_unique<int>(1)));
  EXPECT_TRUE(event.has_value());
  auto second = std::make_unique<int>(2);
  EXPECT_FALSE(event.resume(std::move(second)));
  EXPECT_TRUE(second) << "a refused value is not moved";
  std::vector<std::unique_ptr<int>> taken;
  auto c = collect(event, taken);
  c.start();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(*taken[0], 1);
  EXPECT_FALSE(event.has_value());
}

TYPED_TEST(resume_event_of, a_value_that_nobody_takes_is_destroyed_with_it) {
  const auto object = std::make_shared<int>(1);
  {
    resume_event<std::shared_ptr<int>, TypeParam> event;
    event.resume(object);
    EXPECT_EQ(object.use_count(), 2);
  }
  EXPECT_EQ(object.use_count(), 1);
}

TYPED_TEST(resume_event_of, needs_no_value) {
  resume_event<void, TypeParam> event;
  int times = 0;
  const auto wait = [&]() -> callable<> {
    for (;;) {
      co_await event;
      ++times;
    }
  };
  EXPECT_TRUE(event.resume());
  EXPECT_FALSE(event.resume());
  auto c = wait();
  c.start();
  EXPECT_EQ(times, 1);
  event.resume();
  event.resume();
  EXPECT_EQ(times, 3);
}

TYPED_TEST(resume_event_of, the_coroutine_may_resume_the_event_for_itself) {
  resume_event<int, TypeParam> event;
  std::vector<int> taken;
  const auto wait = [&]() -> callable<> {
    for (int i = 0; i != 3; ++i) {
      EXPECT_TRUE(event.resume(i));
      taken.push_back(co_await event);
    }
  };
  auto c = wait();
  c.start();
  EXPECT_TRUE(c.done());
  EXPECT_EQ(taken, (std::vector{0, 1, 2}));
}

TYPED_TEST(resume_event_of, a_coroutine_that_is_destroyed_waits_no_more) {
  resume_event<int, TypeParam> event;
  std::vector<int> first, second;
  {
    auto c = collect(event, first);
    c.start();
  }
  EXPECT_TRUE(event.resume(1));
  EXPECT_TRUE(event.has_value());
  auto c = collect(event, second);
  c.start();
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(second, (std::vector{1}));
}

TYPED_TEST(resume_event_of, plain_functions_hear_of_waits_and_resumptions) {
  resume_event<int, TypeParam, plain_notification> event;
  std::string heard;
  event.on_wait([](void* text) { *static_cast<std::string*>(text) += 'w'; }, &heard);
  event.on_resume([](void* text) { *static_cast<std::string*>(text) += 'r'; }, &heard);
  std::vector<int> taken;
  auto c = collect(event, taken);
  c.start();
  EXPECT_EQ(heard, "w");
  event.resume(1);
  EXPECT_EQ(heard, "wrw");
  EXPECT_EQ(taken, (std::vector{1}));
}

TYPED_TEST(resume_event_of, function_objects_hear_and_may_answer_at_once) {
  resume_event<int, TypeParam, full_notification<std::function<void()>>> event;
  int waits = 0;
  int resumptions = 0;
  event.on_wait([&] {
    if (++waits <= 2)
      event.resume(waits);
  });
  event.on_resume([&] { ++resumptions; });
  std::vector<int> taken;
  auto c = collect(event, taken);
  c.start();
  EXPECT_EQ(taken, (std::vector{1, 2}));
  EXPECT_EQ(resumptions, 0) << "no coroutine waited";
  event.resume(9);
  EXPECT_EQ(taken, (std::vector{1, 2, 9}));
  EXPECT_EQ(resumptions, 1);
}

TYPED_TEST(resume_event_of, what_its_notification_throws_co_await_throws) {
  resume_event<int, TypeParam, full_notification<std::function<void()>>> event;
  event.on_wait([] { throw std::runtime_error("no"); });
  std::vector<int> taken;
  auto c = collect(event, taken);
  c.start();
  ASSERT_TRUE(c.done());
  EXPECT_THROW(c.get(), std::runtime_error);
  EXPECT_TRUE(event.resume(1)) << "nobody waits";
  EXPECT_TRUE(taken.empty());
}

TYPED_TEST(resume_event_of, large_values_lie_in_it_too) {
  using large = std::array<int, 100>;
  resume_event<large, TypeParam> event;
  static_assert(sizeof(event) >= sizeof(large));
  std::vector<large> taken;
  auto c = collect(event, taken);
  c.start();
  large value{};
  value[99] = 7;
  event.resume(value);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0][99], 7);
}

TEST(resume_event, an_awaitable_goes_on_where_it_is_resumed) {
  weft::io_context context;
  resume_event<int> event;
  auto future = co_spawn(
      context, [&]() -> weft::awaitable<int> { co_return co_await event; }, weft::use_future);
  context.poll();
  event.resume(5);
  context.restart();
  context.run();
  EXPECT_EQ(future.get(), 5);
}

TEST(resume_event, no_value_is_lost_or_doubled_between_threads) {
  constexpr int each = 20'000;
  constexpr int threads = 3;
  resume_event<int> event;
  std::vector<int> seen(each * threads);
  std::atomic<int> taken{0};
  const auto wait = [&]() -> callable<> {
    for (int i = 0; i != each * threads; ++i) {
      ++seen[static_cast<std::size_t>(co_await event)];
      taken.fetch_add(1, std::memory_order_release);
    }
  };
  auto c = wait();
  c.start();
  std::vector<std::thread> resuming;
  for (int t = 0; t != threads; ++t)
    resuming.emplace_back([&, t] {
      for (int i = 0; i != each; ++i)
        while (!event.resume(t * each + i))
          std::this_thread::yield();
    });
  for (std::thread& t : resuming)
    t.join();
  EXPECT_EQ(taken.load(std::memory_order_acquire), each * threads);
  EXPECT_TRUE(c.done());
  for (const int times : seen)
    ASSERT_EQ(times, 1);
}

// ---- misuse

template <class Sharing>
class resume_event_death : public testing::Test {};
TYPED_TEST_SUITE(resume_event_death, policies);

TYPED_TEST(resume_event_death, one_coroutine_waits_at_a_time) {
  expect_assertion(
      [] {
        resume_event<int, TypeParam> event;
        std::vector<int> taken;
        auto first = collect(event, taken);
        auto second = collect(event, taken);
        first.start();
        second.start();
      },
      "a second coroutine waits for a resume_event");
}

TYPED_TEST(resume_event_death, it_outlives_the_wait) {
  expect_assertion(
      [] {
        auto event = std::make_unique<resume_event<int, TypeParam>>();
        std::vector<int> taken;
        auto c = collect(*event, taken);
        c.start();
        event.reset();
      },
      "destroyed that a coroutine waits for");
}

TYPED_TEST(resume_event_death, nothing_else_resumes_who_waits) {
  expect_assertion(
      [] {
        resume_event<int, TypeParam> event;
        std::vector<int> taken;
        auto c = collect(event, taken);
        c.start();
        c.resume();
      },
      "is resumed by that alone");
}

TEST(local_resume_event_death, a_second_thread_is_told_of) {
  expect_assertion(
      [] {
        resume_event<int, sharing::local> event;
        event.resume(1);
        std::thread([&] { event.resume(2); }).join();
      },
      "a second thread uses an object of policy sharing::local");
}

}  // namespace
