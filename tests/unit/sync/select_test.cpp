// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/select.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <variant>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/async/work_guard.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/io/on_timeout.hpp>
#include <weft/sync/broadcast.hpp>
#include <weft/sync/oneshot.hpp>
#include <weft/sync/watch.hpp>

#include "support/cancellable.hpp"
#include "support/manual_clock.hpp"
#include "unit/sync/completions.hpp"

namespace {

using weft::async_select;
using weft::awaitable;
using weft::channel;
using weft::co_spawn;
using weft::detached;
using weft::error_code;
using weft::io_context;
using weft::on_changed;
using weft::on_receive;
using weft::on_send;
using weft::on_timeout;
using weft_test::cancellable;
using weft_test::counted;
namespace error = weft::error;
namespace sharing = weft::sharing;

/// What a select has completed with.
template <class... Results>
struct selected {
  std::optional<error_code> ec;
  std::variant<Results...> result;

  auto handler() {
    return [this](error_code e, std::variant<Results...> r) {
      EXPECT_FALSE(ec) << "completed twice";
      ec = e;
      result = std::move(r);
    };
  }
};

template <class Policy>
class select_test : public ::testing::Test {
 public:
  void run() {
    context.restart();
    context.poll();
  }
  io_context context;
};
using policies = ::testing::Types<sharing::concurrent, sharing::local>;
TYPED_TEST_SUITE(select_test, policies);

TYPED_TEST(select_test, takes_what_is_there) {
  channel<int, TypeParam> a(this->context, 1);
  channel<int, TypeParam> b(this->context, 1);
  b.try_send(4);
  selected<std::optional<int>, std::optional<int>> s;
  async_select(on_receive(a), on_receive(b), s.handler());
  EXPECT_FALSE(s.ec) << "called in its initiating function";
  this->run();
  EXPECT_EQ(s.ec, error_code());
  ASSERT_EQ(s.result.index(), 1u);
  EXPECT_EQ(std::get<1>(s.result), 4);
}

TYPED_TEST(select_test, takes_what_comes_first_and_nothing_else) {
  channel<int, TypeParam> a(this->context, 0);
  channel<int, TypeParam> b(this->context, 2);
  selected<std::optional<int>, std::optional<int>> s;
  async_select(on_receive(a), on_receive(b), s.handler());
  this->run();
  EXPECT_FALSE(s.ec);
  EXPECT_TRUE(a.try_send(1));
  EXPECT_FALSE(a.try_send(2)) << "taken by a select that is over";
  EXPECT_TRUE(b.try_send(3));
  this->run();
  EXPECT_EQ(std::get<0>(s.result), 1);
  EXPECT_EQ(b.try_receive(), 3);
  EXPECT_FALSE(a.try_receive());
}

TYPED_TEST(select_test, a_case_that_has_lost_lets_the_next_who_waits_have_the_value) {
  channel<int, TypeParam> a(this->context, 0);
  channel<int, TypeParam> b(this->context, 0);
  selected<std::optional<int>, std::optional<int>> s;
  weft_test::received<int> r;
  async_select(on_receive(a), on_receive(b), s.handler());
  b.async_receive(r.handler());
  EXPECT_TRUE(a.try_send(1));
  EXPECT_TRUE(b.try_send(2));
  this->run();
  EXPECT_EQ(s.result.index(), 0u);
  EXPECT_EQ(r.value, 2);
}

TYPED_TEST(select_test, sends_on_the_first_that_has_room) {
  channel<counted, TypeParam> a(this->context, 0);
  channel<counted, TypeParam> b(this->context, 0);
  selected<bool, bool> s;
  async_select(on_send(a, counted(1)), on_send(b, counted(2)), s.handler());
  this->run();
  EXPECT_FALSE(s.ec);
  EXPECT_EQ(b.try_receive()->number, 2);
  EXPECT_FALSE(a.try_receive());
  this->run();
  ASSERT_EQ(s.result.index(), 1u);
  EXPECT_TRUE(std::get<1>(s.result));
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(select_test, selects_meet_each_other) {
  channel<int, TypeParam> a(this->context, 0);
  channel<int, TypeParam> b(this->context, 0);
  selected<std::optional<int>, bool> one;
  selected<bool, std::optional<int>> two;
  async_select(on_receive(a), on_send(b, 5), one.handler());
  async_select(on_send(a, 6), on_receive(b), two.handler());
  this->run();
  ASSERT_EQ(one.result.index(), two.result.index());
  if (one.result.index() == 0)
    EXPECT_EQ(std::get<0>(one.result), 6);
  else
    EXPECT_EQ(std::get<1>(two.result), 5);
  EXPECT_FALSE(a.try_receive());
  EXPECT_FALSE(b.try_send(1));
}

TYPED_TEST(select_test, does_not_meet_itself) {
  channel<int, TypeParam> a(this->context, 0);
  selected<std::optional<int>, bool> s;
  async_select(on_receive(a), on_send(a, 5), s.handler());
  this->run();
  EXPECT_FALSE(s.ec);
  EXPECT_EQ(a.try_receive(), 5);
  this->run();
  EXPECT_EQ(s.result.index(), 1u);
}

TYPED_TEST(select_test, leaves_it_to_chance_which_of_several_it_takes) {
  channel<int, TypeParam> a(this->context, 1);
  channel<int, TypeParam> b(this->context, 1);
  int taken[2] = {0, 0};
  for (int i = 0; i != 200; ++i) {
    a.try_send(1);
    b.try_send(1);
    selected<std::optional<int>, std::optional<int>> s;
    async_select(on_receive(a), on_receive(b), s.handler());
    this->run();
    ++taken[s.result.index()];
  }
  EXPECT_GT(taken[0], 20);
  EXPECT_GT(taken[1], 20);
}

TYPED_TEST(select_test, tells_that_a_channel_has_been_closed) {
  channel<int, TypeParam> a(this->context, 0);
  channel<int, TypeParam> b(this->context, 0);
  selected<std::optional<int>, bool> s;
  async_select(on_receive(a), on_send(b, 1), s.handler());
  b.close();
  this->run();
  EXPECT_EQ(s.ec, error_code());
  ASSERT_EQ(s.result.index(), 1u);
  EXPECT_FALSE(std::get<1>(s.result));
  a.close();
  selected<std::optional<int>> only;
  async_select(on_receive(a), only.handler());
  this->run();
  EXPECT_EQ(only.ec, error_code());
  EXPECT_FALSE(std::get<0>(only.result));
}

TYPED_TEST(select_test, cancelled_it_has_no_effect) {
  channel<int, TypeParam> a(this->context, 1);
  channel<int, TypeParam> b(this->context, 0);
  weft::cancellation_signal signal;
  selected<std::optional<int>, bool> s;
  async_select(on_receive(a), on_send(b, 1), cancellable(signal, s.handler()));
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_TRUE(a.try_send(1));
  EXPECT_FALSE(b.try_receive());
  signal.emit(weft::cancellation_type::terminal);
  this->run();
  EXPECT_EQ(s.ec, error::operation_aborted);
  EXPECT_EQ(a.try_receive(), 1);
}

TYPED_TEST(select_test, a_channels_end_aborts_it) {
  selected<std::optional<int>, std::optional<int>> s;
  channel<int, TypeParam> a(this->context, 0);
  {
    channel<int, TypeParam> b(this->context, 0);
    async_select(on_receive(a), on_receive(b), s.handler());
  }
  EXPECT_FALSE(a.try_send(1));
  this->run();
  EXPECT_EQ(s.ec, error::operation_aborted);
  selected<std::optional<int>, std::optional<int>> t;
  {
    channel<int, TypeParam> b(this->context, 0);
    async_select(on_receive(a), on_receive(b), t.handler());
    EXPECT_TRUE(a.try_send(1));
  }
  this->run();
  EXPECT_EQ(std::get<0>(t.result), 1);
}

TYPED_TEST(select_test, a_context_may_end_while_it_waits) {
  auto own = std::make_unique<io_context>();
  auto a = std::make_shared<channel<int, TypeParam>>(*own, 0);
  auto b = std::make_shared<channel<counted, TypeParam>>(*own, 0);
  bool called = false;
  async_select(on_receive(*a), on_send(*b, counted(1)), on_timeout(std::chrono::hours(1)),
               [&called, a, b](error_code, auto) { called = true; });
  const std::weak_ptr observer = a;
  a.reset();
  b.reset();
  EXPECT_FALSE(observer.expired());
  own.reset();
  EXPECT_TRUE(observer.expired());
  EXPECT_FALSE(called);
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(select_test, gives_up_at_a_timeout) {
  const weft_test::manual_time time;
  channel<int, TypeParam> a(this->context, 0);
  selected<std::optional<int>, std::monostate> s;
  async_select(on_receive(a), on_timeout(std::chrono::seconds(2)), s.handler());
  this->run();
  weft_test::manual_time::advance(std::chrono::seconds(1));
  this->run();
  EXPECT_FALSE(s.ec);
  weft_test::manual_time::advance(std::chrono::seconds(1));
  this->run();
  EXPECT_EQ(s.ec, error_code());
  EXPECT_EQ(s.result.index(), 1u);
  EXPECT_FALSE(a.try_send(1));
}

TYPED_TEST(select_test, leaves_no_timeout_behind) {
  const weft_test::manual_time time;
  channel<int, TypeParam> a(this->context, 1);
  for (const bool at_once : {true, false}) {
    selected<std::optional<int>, std::monostate> s;
    if (at_once)
      a.try_send(1);
    async_select(on_receive(a), on_timeout(std::chrono::hours(1)), s.handler());
    if (!at_once)
      a.try_send(1);
    this->context.restart();
    this->context.run();  // ends, for nothing is left to wait for
    EXPECT_EQ(std::get<0>(s.result), 1);
  }
}

// ---- the other forms of channels

TYPED_TEST(select_test, receives_from_a_oneshot) {
  auto [sender, receiver] = weft::make_oneshot<int, TypeParam>(this->context.get_executor());
  channel<int, TypeParam> other(this->context, 0);
  selected<std::optional<int>, std::optional<int>> s;
  async_select(on_receive(receiver), on_receive(other), s.handler());
  this->run();
  EXPECT_FALSE(s.ec);
  sender.send(5);
  this->run();
  EXPECT_EQ(std::get<0>(s.result), 5);
}

TYPED_TEST(select_test, receives_from_a_broadcast_what_is_there_and_what_comes) {
  weft::broadcast<int, TypeParam> news(this->context, 2);
  typename weft::broadcast<int, TypeParam>::receiver mine(news);
  channel<int, TypeParam> other(this->context, 1);
  for (const bool is_there : {true, false}) {
    selected<std::optional<int>, std::optional<int>> s;
    if (is_there)
      news.send(1);
    async_select(on_receive(mine), on_receive(other), s.handler());
    if (!is_there)
      news.send(1);
    this->run();
    EXPECT_EQ(std::get<0>(s.result), 1);
  }
  for (int i = 0; i != 5; ++i)
    news.send(i);
  selected<std::optional<int>, std::optional<int>> late;
  async_select(on_receive(mine), on_receive(other), late.handler());
  this->run();
  EXPECT_EQ(std::get<0>(late.result), 3) << "the oldest that is left";
  EXPECT_EQ(mine.take_missed(), 3u);
  news.close();
  for (const std::optional<int> last : {std::optional(4), std::optional<int>()}) {
    selected<std::optional<int>, std::optional<int>> end;
    async_select(on_receive(mine), on_receive(other), end.handler());
    this->run();
    EXPECT_EQ(std::get<0>(end.result), last);
  }
}

TYPED_TEST(select_test, a_case_that_has_lost_takes_nothing_from_a_broadcast) {
  weft::broadcast<int, TypeParam> news(this->context, 4);
  auto mine = std::make_unique<typename weft::broadcast<int, TypeParam>::receiver>(news);
  auto yours = std::make_unique<typename weft::broadcast<int, TypeParam>::receiver>(news);
  channel<int, TypeParam> other(this->context, 1);
  selected<std::optional<int>, std::optional<int>, std::optional<int>> s;
  async_select(on_receive(*mine), on_receive(other), on_receive(*yours), s.handler());
  other.try_send(1);
  yours.reset();  // what has lost still lies in the queue, until the handler has been called
  news.send(7);
  this->run();
  EXPECT_EQ(std::get<1>(s.result), 1);
  EXPECT_EQ(mine->try_receive(), 7);
}

TYPED_TEST(select_test, waits_for_a_watch_to_change) {
  weft::watch<int, TypeParam> level(this->context, 1);
  channel<int, TypeParam> other(this->context, 1);
  selected<std::optional<std::uint64_t>, std::optional<int>> s;
  async_select(on_changed(level, level.version()), on_receive(other), s.handler());
  this->run();
  EXPECT_FALSE(s.ec);
  level.set(2);
  this->run();
  EXPECT_EQ(std::get<0>(s.result), level.version());
  level.close();
  selected<std::optional<std::uint64_t>, std::optional<int>> end;
  async_select(on_changed(level, level.version()), on_receive(other), end.handler());
  this->run();
  EXPECT_EQ(end.result.index(), 0u);
  EXPECT_EQ(std::get<0>(end.result), std::nullopt);
}

TYPED_TEST(select_test, is_aborted_with_a_broadcasts_receiver_and_with_a_watch) {
  weft::broadcast<int, TypeParam> news(this->context, 4);
  std::optional<typename weft::broadcast<int, TypeParam>::receiver> mine(std::in_place, news);
  auto level = std::make_unique<weft::watch<int, TypeParam>>(this->context, 1);
  const auto known = level->version();
  selected<std::optional<int>, std::optional<std::uint64_t>> first, second;
  async_select(on_receive(*mine), on_changed(*level, known), first.handler());
  mine.reset();
  this->run();
  EXPECT_EQ(first.ec, weft::error::operation_aborted);
  mine.emplace(news);
  async_select(on_receive(*mine), on_changed(*level, known), second.handler());
  level.reset();
  this->run();
  EXPECT_EQ(second.ec, weft::error::operation_aborted);
  EXPECT_TRUE(news.send(1));
  EXPECT_EQ(mine->try_receive(), 1);
}

TYPED_TEST(select_test, waits_in_coroutines) {
  channel<int, TypeParam> a(this->context, 0);
  channel<int, TypeParam> b(this->context, 0);
  std::vector<int> got;
  const auto consume = [&]() -> awaitable<void> {
    for (int i = 0; i != 20; ++i) {
      const auto done = co_await async_select(on_receive(a), on_receive(b));
      got.push_back(done.index() == 0 ? *std::get<0>(done) : -*std::get<1>(done));
    }
  };
  const auto produce = [](auto& c, int from) -> awaitable<void> {
    for (int i = 0; i != 10; ++i)
      co_await c.async_send(from + i);
  };
  co_spawn(this->context, consume, detached);
  co_spawn(this->context, produce(a, 100), detached);
  co_spawn(this->context, produce(b, 200), detached);
  this->context.run();
  ASSERT_EQ(got.size(), 20u);
  int last[2] = {0, 0};
  for (const int n : got) {
    EXPECT_LT(last[n < 0], std::abs(n));
    last[n < 0] = std::abs(n);
  }
}

TEST(select_threads, perform_one_case_each) {
  weft::thread_pool pool(2);
  channel<int> a(pool, 0);
  channel<int> b(pool, 1);
  constexpr int each = 1000;
  std::atomic<int> sum{0};
  std::atomic<int> count{0};
  const auto consume = [&]() -> awaitable<void> {
    for (;;) {
      const auto done = co_await async_select(on_receive(a), on_receive(b));
      const auto value = done.index() == 0 ? std::get<0>(done) : std::get<1>(done);
      if (!value)
        co_return;
      sum += *value;
      ++count;
    }
  };
  std::atomic<int> left{2};
  const auto produce = [&]() -> awaitable<void> {
    for (int i = 0; i != each; ++i) {
      const auto done = co_await async_select(on_send(b, 1), on_send(a, 2));
      EXPECT_TRUE(done.index() == 0 ? std::get<0>(done) : std::get<1>(done));
      sum -= done.index() == 0 ? 1 : 2;
    }
    if (--left == 0) {
      while (count != 2 * each)
        std::this_thread::yield();
      a.close();
      b.close();
    }
  };
  std::vector<std::future<void>> ends;
  for (int i = 0; i != 2; ++i) {
    ends.push_back(co_spawn(pool, consume, weft::use_future));
    ends.push_back(co_spawn(pool, produce, weft::use_future));
  }
  for (auto& end : ends)
    end.get();
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(count, 2 * each);
}

TEST(select, a_context_may_end_when_a_timeout_of_another_one_passes) {
  io_context clock;
  channel<int> never(clock, 0);
  auto work = weft::make_work_guard(clock);
  std::thread thread([&] { clock.run(); });
  const auto alive = std::make_shared<int>();
  for (int i = 0; i != 300; ++i) {
    io_context own;
    async_select(on_receive(never), on_timeout(std::chrono::microseconds(i % 30)),
                 weft::bind_executor(own.get_executor(), [alive](error_code, auto) {}));
    own.poll();
  }
  EXPECT_EQ(alive.use_count(), 1);
  work.reset();
  thread.join();
}

}  // namespace
