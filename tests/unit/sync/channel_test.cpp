// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/channel.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <future>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/detached.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>
#include <weft/execution/executor_work_guard.hpp>

#include "support/cancellable.hpp"
#include "support/misuse.hpp"
#include "unit/sync/completions.hpp"

namespace {

using weft::as_tuple;
using weft::awaitable;
using weft::channel;
using weft::co_spawn;
using weft::detached;
using weft::error_code;
using weft::io_context;
using weft_test::cancellable;
using weft_test::counted;
using weft_test::expect_assertion;
using weft_test::received;
using weft_test::sent;
namespace error = weft::error;
namespace sharing = weft::sharing;

template <class Policy>
class channel_test : public ::testing::Test {
 public:
  void run() {
    context.restart();
    context.poll();
  }
  io_context context;
};
using policies = ::testing::Types<sharing::concurrent, sharing::local>;
TYPED_TEST_SUITE(channel_test, policies);

// ---- without waiting

TYPED_TEST(channel_test, holds_as_many_values_as_its_capacity_says) {
  for (const std::size_t capacity : {1, 2, 3, 8, 1000}) {
    channel<std::size_t, TypeParam> c(this->context, capacity);
    EXPECT_EQ(c.capacity(), capacity);
    std::size_t next = 0;
    std::size_t expected = 0;
    for (int lap = 0; lap != 5; ++lap) {
      while (c.try_send(next))
        ++next;
      EXPECT_EQ(c.size(), capacity);
      for (std::size_t i = 0; i < (capacity + 1) / 2; ++i)
        EXPECT_EQ(c.try_receive(), expected++);
    }
    while (const auto value = c.try_receive())
      EXPECT_EQ(*value, expected++);
    EXPECT_EQ(expected, next);
    EXPECT_EQ(c.size(), 0u);
  }
}

TYPED_TEST(channel_test, holds_nothing_if_its_capacity_is_0) {
  channel<int, TypeParam> c(this->context);
  EXPECT_FALSE(c.try_send(1));
  EXPECT_FALSE(c.try_receive());
}

TYPED_TEST(channel_test, grows_if_it_is_unbounded) {
  {
    channel<counted, TypeParam> c(this->context, weft::unbounded);
    int next = 0;
    int expected = 0;
    for (const int burst : {3, 40, 5000, 10}) {
      for (int i = 0; i != burst; ++i)
        ASSERT_TRUE(c.try_send(counted(next++)));
      for (int i = 0; i != burst - 1; ++i)
        ASSERT_EQ(c.try_receive()->number, expected++);
    }
    EXPECT_EQ(counted::alive, 4);
    for (int i = 0; i != 3; ++i)
      EXPECT_EQ(c.try_receive()->number, expected++);
    EXPECT_EQ(counted::alive, 1);
  }
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(channel_test, leaves_alone_what_it_does_not_take) {
  channel<std::unique_ptr<int>, TypeParam> c(this->context, 1);
  EXPECT_TRUE(c.try_send(std::make_unique<int>(1)));
  auto value = std::make_unique<int>(2);
  EXPECT_FALSE(c.try_send(std::move(value)));
  ASSERT_TRUE(value);
  c.close();
  EXPECT_EQ(**c.try_receive(), 1);
  EXPECT_FALSE(c.try_send(std::move(value)));
  ASSERT_TRUE(value);
}

TYPED_TEST(channel_test, destroys_what_it_holds) {
  {
    channel<counted, TypeParam> c(this->context, 4);
    for (int i = 0; i != 3; ++i)
      c.try_send(counted(i));
    c.try_receive();
    c.try_send(counted(3));
    c.try_send(counted(4));
    EXPECT_EQ(counted::alive, 4);
  }
  EXPECT_EQ(counted::alive, 0);
}

// ---- waiting

TYPED_TEST(channel_test, gives_a_value_to_who_waits_for_it) {
  for (const std::size_t capacity : {std::size_t(0), std::size_t(2), weft::unbounded}) {
    channel<int, TypeParam> c(this->context, capacity);
    received<int> r;
    c.async_receive(r.handler());
    this->run();
    EXPECT_FALSE(r.ec);
    EXPECT_TRUE(c.try_send(5));
    EXPECT_FALSE(r.ec) << "called inside try_send";
    EXPECT_EQ(c.size(), 0u);
    this->run();
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.value, 5);
  }
}

TYPED_TEST(channel_test, takes_a_value_from_who_waits_to_send_it) {
  channel<int, TypeParam> c(this->context, 0);
  sent s;
  c.async_send(6, s.handler());
  this->run();
  EXPECT_FALSE(s.ec);
  EXPECT_EQ(c.try_receive(), 6);
  this->run();
  EXPECT_EQ(s.ec, error_code());
}

TYPED_TEST(channel_test, calls_no_handler_in_the_initiating_function) {
  channel<int, TypeParam> c(this->context, 2);
  sent s;
  received<int> r;
  c.async_send(1, s.handler());
  c.async_receive(r.handler());
  EXPECT_FALSE(s.ec);
  EXPECT_FALSE(r.ec);
  this->run();
  EXPECT_EQ(s.ec, error_code());
  EXPECT_EQ(r.value, 1);
}

TYPED_TEST(channel_test, lets_in_the_first_who_waits_when_there_is_room) {
  channel<int, TypeParam> c(this->context, 2);
  sent s[5];
  for (int i = 0; i != 5; ++i)
    c.async_send(i, s[i].handler());
  this->run();
  EXPECT_TRUE(s[1].ec);
  EXPECT_FALSE(s[2].ec);
  for (int i = 0; i != 5; ++i) {
    EXPECT_EQ(c.try_receive(), i);
    EXPECT_EQ(c.try_send(9), i > 2) << "overtakes who waits";
    EXPECT_EQ(c.size(), 2u);
    this->run();
    for (int k = 0; k != 5; ++k)
      EXPECT_EQ(s[k].ec.has_value(), k < i + 3) << i << ' ' << k;
  }
}

TYPED_TEST(channel_test, serves_receivers_in_the_order_in_which_they_came) {
  channel<int, TypeParam> c(this->context, 1);
  std::vector<int> order;
  for (int i = 0; i != 4; ++i)
    c.async_receive([&order, i](error_code, int value) {
      EXPECT_EQ(value, i);
      order.push_back(i);
    });
  for (int i = 0; i != 4; ++i)
    EXPECT_TRUE(c.try_send(i));
  this->run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TYPED_TEST(channel_test, goes_on_without_those_who_have_waited) {
  channel<int, TypeParam> c(this->context, 2);
  for (int lap = 0; lap != 5; ++lap) {
    received<int> r;
    c.async_receive(r.handler());
    EXPECT_TRUE(c.try_send(1));
    EXPECT_TRUE(c.try_send(2));
    EXPECT_TRUE(c.try_send(3));
    EXPECT_FALSE(c.try_send(4));
    EXPECT_EQ(c.try_receive(), 2);
    EXPECT_EQ(c.try_receive(), 3);
    EXPECT_FALSE(c.try_receive());
    this->run();
    EXPECT_EQ(r.value, 1);
  }
}

// ---- its end

TYPED_TEST(channel_test, closed_it_gives_what_is_left_and_takes_nothing) {
  for (const std::size_t capacity : {std::size_t(3), weft::unbounded}) {
    channel<int, TypeParam> c(this->context, capacity);
    c.try_send(1);
    c.try_send(2);
    EXPECT_TRUE(c.is_open());
    c.close();
    c.close();
    EXPECT_FALSE(c.is_open());
    EXPECT_FALSE(c.try_send(3));
    sent s;
    c.async_send(3, s.handler());
    received<int> r[2];
    c.async_receive(r[0].handler());
    EXPECT_EQ(c.try_receive(), 2);
    c.async_receive(r[1].handler());
    this->run();
    EXPECT_EQ(s.ec, error::channel_closed);
    EXPECT_EQ(r[0].value, 1);
    EXPECT_EQ(r[1].ec, error::channel_closed);
    EXPECT_FALSE(c.try_receive());
  }
}

TYPED_TEST(channel_test, closing_ends_all_waits) {
  channel<int, TypeParam> empty(this->context, 0);
  channel<int, TypeParam> full(this->context, 1);
  received<int> r[2];
  sent s[2];
  for (auto& each : r)
    empty.async_receive(each.handler());
  full.try_send(7);
  for (sent& each : s)
    full.async_send(8, each.handler());
  empty.close();
  full.close();
  this->run();
  for (const auto& each : r)
    EXPECT_EQ(each.ec, error::channel_closed);
  for (const sent& each : s)
    EXPECT_EQ(each.ec, error::channel_closed);
  EXPECT_EQ(full.try_receive(), 7);
  EXPECT_FALSE(full.try_receive());
}

TYPED_TEST(channel_test, cancel_ends_all_waits_and_leaves_it_open) {
  channel<int, TypeParam> c(this->context, 1);
  received<int> r;
  c.async_receive(r.handler());
  c.cancel();
  this->run();
  EXPECT_EQ(r.ec, error::operation_aborted);
  EXPECT_TRUE(c.try_send(1));
  sent s;
  c.async_send(2, s.handler());
  c.cancel();
  this->run();
  EXPECT_EQ(s.ec, error::operation_aborted);
  EXPECT_EQ(c.try_receive(), 1);
  EXPECT_FALSE(c.try_receive());
  EXPECT_TRUE(c.is_open());
}

TYPED_TEST(channel_test, destroyed_it_aborts_what_waits) {
  received<int> r;
  sent s;
  {
    channel<int, TypeParam> empty(this->context, 1);
    channel<int, TypeParam> full(this->context, 0);
    empty.async_receive(r.handler());
    full.async_send(1, s.handler());
  }
  EXPECT_FALSE(r.ec);
  this->run();
  EXPECT_EQ(r.ec, error::operation_aborted);
  EXPECT_EQ(s.ec, error::operation_aborted);
}

TYPED_TEST(channel_test, a_handler_may_destroy_it) {
  auto c = std::make_unique<channel<int, TypeParam>>(this->context, 1);
  bool called = false;
  c->async_receive([&](error_code, int) {
    c.reset();
    called = true;
  });
  c->try_send(1);
  this->run();
  EXPECT_TRUE(called);
}

TYPED_TEST(channel_test, a_context_may_end_with_waits_whose_handlers_own_it) {
  auto own = std::make_unique<io_context>();
  auto a = std::make_shared<channel<counted, TypeParam>>(*own, 1);
  auto b = std::make_shared<channel<counted, TypeParam>>(*own, 0);
  bool called = false;
  a->async_receive([&, a, b](error_code, counted) { called = true; });
  b->async_send(counted(1), [&, a, b](error_code) { called = true; });
  const std::weak_ptr observer = a;
  a.reset();
  b.reset();
  EXPECT_EQ(counted::alive, 1);
  own.reset();
  EXPECT_TRUE(observer.expired());
  EXPECT_FALSE(called);
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(channel_test, outlives_its_context_as_a_container) {
  auto own = std::make_unique<io_context>();
  channel<int, TypeParam> c(*own, 2);
  c.async_receive([](error_code, int) { FAIL(); });
  own.reset();
  EXPECT_TRUE(c.try_send(1));
  EXPECT_EQ(c.try_receive(), 1);
}

TYPED_TEST(channel_test, moves_with_all_that_waits) {
  channel<int, TypeParam> first(this->context, 1);
  received<int> r;
  first.async_receive(r.handler());
  channel<int, TypeParam> second(std::move(first));
  EXPECT_TRUE(second.try_send(3));
  this->run();
  EXPECT_EQ(r.value, 3);
}

// ---- cancellation of one wait

TYPED_TEST(channel_test, a_cancelled_receive_takes_nothing) {
  channel<int, TypeParam> c(this->context, 1);
  weft::cancellation_signal signal;
  received<int> first;
  received<int> second;
  c.async_receive(cancellable(signal, first.handler()));
  c.async_receive(second.handler());
  signal.emit(weft::cancellation_type::terminal);
  EXPECT_TRUE(c.try_send(4));
  this->run();
  EXPECT_EQ(first.ec, error::operation_aborted);
  EXPECT_EQ(second.value, 4);
}

TYPED_TEST(channel_test, a_cancelled_send_was_not_taken) {
  channel<counted, TypeParam> c(this->context, 1);
  c.try_send(counted(1));
  weft::cancellation_signal signal;
  sent first;
  sent second;
  c.async_send(counted(2), cancellable(signal, first.handler()));
  c.async_send(counted(3), second.handler());
  signal.emit(weft::cancellation_type::partial);
  EXPECT_EQ(c.try_receive()->number, 1);
  EXPECT_EQ(c.try_receive()->number, 3);
  this->run();
  EXPECT_EQ(first.ec, error::operation_aborted);
  EXPECT_EQ(second.ec, error_code());
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(channel_test, a_receive_that_has_been_given_a_value_delivers_it_though_cancelled) {
  channel<int, TypeParam> c(this->context, 0);
  weft::cancellation_signal signal;
  received<int> r;
  c.async_receive(cancellable(signal, r.handler()));
  EXPECT_TRUE(c.try_send(4));
  signal.emit(weft::cancellation_type::terminal);
  c.cancel();
  this->run();
  EXPECT_EQ(r.ec, error_code());
  EXPECT_EQ(r.value, 4);
}

TYPED_TEST(channel_test, the_last_wait_cancelled_leaves_it_as_it_was) {
  channel<int, TypeParam> c(this->context, 2);
  weft::cancellation_signal signal;
  received<int> r;
  c.async_receive(cancellable(signal, r.handler()));
  signal.emit(weft::cancellation_type::total);
  this->run();
  EXPECT_TRUE(c.try_send(1));
  EXPECT_TRUE(c.try_send(2));
  EXPECT_FALSE(c.try_send(3));
  EXPECT_EQ(c.try_receive(), 1);
}

TYPED_TEST(channel_test, a_signal_emitted_after_the_channels_end_touches_nothing) {
  weft::cancellation_signal signal;
  received<int> r;
  {
    channel<int, TypeParam> c(this->context, 0);
    c.async_receive(cancellable(signal, r.handler()));
  }
  signal.emit(weft::cancellation_type::terminal);
  this->run();
  EXPECT_EQ(r.ec, error::operation_aborted);
}

// ---- coroutines, futures, executors

TYPED_TEST(channel_test, passes_values_between_coroutines) {
  for (const std::size_t capacity :
       {std::size_t(0), std::size_t(1), std::size_t(7), std::size_t(200), weft::unbounded}) {
    channel<int, TypeParam> c(this->context, capacity);
    std::vector<int> got;
    const auto produce = [&]() -> awaitable<void> {
      for (int i = 0; i != 500; ++i)
        co_await c.async_send(i);
      c.close();
    };
    const auto consume = [&]() -> awaitable<void> {
      while (const auto value = co_await c.async_next())
        got.push_back(*value);
    };
    co_spawn(this->context, produce, detached);
    co_spawn(this->context, consume, detached);
    this->context.restart();
    this->context.run();
    std::vector<int> expected(500);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(got, expected);
  }
}

TYPED_TEST(channel_test, a_coroutine_that_finds_no_reason_to_wait_lets_others_run) {
  channel<int, TypeParam> c(this->context, 1000);
  bool done = false;
  bool ran = false;
  const auto produce = [&]() -> awaitable<void> {
    weft::post(this->context, [&] {
      ran = true;
      EXPECT_FALSE(done);
    });
    for (int i = 0; i != 500; ++i)
      co_await c.async_send(i);
    done = true;
  };
  co_spawn(this->context, produce, detached);
  this->context.run();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(done);
}

TYPED_TEST(channel_test, throws_its_errors_in_coroutines) {
  channel<int, TypeParam> c(this->context, 1);
  c.close();
  int caught = 0;
  const auto use = [&]() -> awaitable<void> {
    try {
      co_await c.async_receive();
    } catch (const weft::system_error& e) {
      caught += e.code() == error::channel_closed;
    }
    const auto [ec] = co_await c.async_send(1, as_tuple);
    caught += ec == error::channel_closed;
  };
  co_spawn(this->context, use, detached);
  this->context.run();
  EXPECT_EQ(caught, 2);
}

TYPED_TEST(channel_test, cancels_the_wait_of_a_coroutine) {
  channel<int, TypeParam> c(this->context, 0);
  weft::cancellation_signal signal;
  bool aborted = false;
  const auto use = [&]() -> awaitable<void> {
    const auto [ec, value] = co_await c.async_receive(as_tuple);
    aborted = ec == error::operation_aborted;
  };
  const auto use_directly = [&]() -> awaitable<void> {
    co_await weft::this_coro::throw_if_cancelled(false);
    aborted = !co_await c.async_next();
  };
  co_spawn(this->context, use, cancellable(signal, [](std::exception_ptr) {}));
  this->run();
  signal.emit(weft::cancellation_type::terminal);
  this->run();
  EXPECT_TRUE(aborted);
  aborted = false;
  co_spawn(this->context, use_directly, cancellable(signal, [](std::exception_ptr) {}));
  this->run();
  EXPECT_FALSE(aborted);
  signal.emit(weft::cancellation_type::terminal);
  this->run();
  EXPECT_TRUE(aborted);
}

TYPED_TEST(channel_test, destroys_coroutines_that_wait_when_the_context_ends) {
  auto own = std::make_unique<io_context>();
  channel<counted, TypeParam> c(*own, 0);
  const auto wait = [&]() -> awaitable<void> {
    const counted kept(1);
    co_await c.async_next();
  };
  for (int i = 0; i != 3; ++i)
    co_spawn(*own, wait, detached);
  own->poll();
  EXPECT_EQ(counted::alive, 3);
  own.reset();
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(channel_test, takes_a_value_without_a_default_constructor) {
  struct value {
    explicit value(int n) : number(n) {}
    int number;
  };
  channel<value, TypeParam> c(this->context, 1);
  std::optional<value> got;
  c.async_next([&](std::optional<value> v) { got = v; });
  c.async_send(value(8), [](error_code) {});
  this->run();
  EXPECT_EQ(got->number, 8);
}

struct minus_one {
  int operator()(error_code ec) const { return ec == error::channel_closed ? -1 : -2; }
};

TYPED_TEST(channel_test, a_transform_makes_values_of_errors) {
  channel<int, TypeParam, minus_one> c(this->context, 1);
  std::vector<int> got;
  const auto note = [&](int value) { got.push_back(value); };
  c.async_receive(note);
  c.cancel();
  c.async_receive(note);
  c.try_send(5);
  c.async_receive(note);
  c.close();
  this->run();
  EXPECT_EQ(got, (std::vector<int>{-2, 5, -1}));
}

TEST(channel, completes_futures) {
  weft::thread_pool pool(1);
  channel<std::string> c(pool, 0);
  auto got = c.async_receive(weft::use_future);
  auto done = c.async_send("value", weft::use_future);
  EXPECT_EQ(got.get(), "value");
  done.get();
  auto next = c.async_next(weft::use_future);
  c.close();
  EXPECT_FALSE(next.get());
}

TEST(channel, calls_handlers_in_their_executors) {
  io_context context;
  io_context other;
  const auto strand = weft::make_strand(other);
  channel<int> c(context, 0);
  int in_strand = 0;
  c.async_receive(weft::bind_executor(strand, [&](error_code ec, int value) {
    EXPECT_EQ(ec, error_code());
    in_strand += strand.running_in_this_thread() ? value : 0;
  }));
  c.try_send(3);
  context.run();
  EXPECT_EQ(in_strand, 0);
  other.run();
  EXPECT_EQ(in_strand, 3);
}

TEST(channel, coroutines_of_two_contexts_meet) {
  io_context one;
  io_context two;
  channel<int> c(one, 0);
  int got = 0;
  const auto consume = [&]() -> awaitable<void> {
    while (const auto value = co_await c.async_next()) {
      EXPECT_TRUE(two.get_executor().running_in_this_thread());
      EXPECT_EQ(*value, got++);
    }
  };
  const auto produce = [&]() -> awaitable<void> {
    for (int i = 0; i != 100; ++i) {
      co_await c.async_send(i);
      EXPECT_TRUE(one.get_executor().running_in_this_thread());
    }
    c.close();
  };
  co_spawn(two, consume, detached);
  co_spawn(one, produce, detached);
  std::thread thread([&] { two.run(); });
  one.run();
  thread.join();
  EXPECT_EQ(got, 100);
}

TEST(channel, gives_a_coroutine_values_that_are_errors) {
  io_context context;
  channel<error_code> c(context, 1);
  const error_code eof = error::eof;
  std::vector<error_code> got;
  const auto consume = [&]() -> awaitable<void> {
    got.push_back(co_await c.async_receive());  // it is there
    got.push_back(co_await c.async_receive());
  };
  co_spawn(context, consume, detached);
  c.try_send(eof);
  context.poll();
  c.try_send(eof);
  context.run();
  EXPECT_EQ(got, std::vector(2, eof));
}

TEST(channel, has_the_receiver_that_it_wakes_go_first) {
  io_context context;
  channel<int> c(context);
  std::string order;
  c.async_receive([&](error_code, int) { order += 'r'; });
  std::promise<void> blocked;
  std::promise<void> end;
  weft::post(context, [&] {
    blocked.set_value();
    end.get_future().wait();
  });
  std::thread other([&] { context.run(); });
  blocked.get_future().wait();
  weft::post(context, [&] {
    weft::post(context, [&] {
      order += 'p';
      end.set_value();
    });
    c.try_send(1);
  });
  context.run();
  other.join();
  EXPECT_EQ(order, "rp");
}

// ---- threads

void exchange_between_threads(std::size_t capacity, int senders, int receivers, int each) {
  weft::thread_pool pool(2);
  weft::thread_pool other(2);
  channel<std::uint64_t> c(pool, capacity);
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::uint64_t> count{0};
  std::atomic<int> left{senders};
  const auto produce = [&](int sender) -> awaitable<void> {
    for (int i = 0; i != each; ++i)
      co_await c.async_send((std::uint64_t(sender) << 32) + static_cast<std::uint64_t>(i));
    if (--left == 0)
      c.close();
  };
  const auto consume = [&]() -> awaitable<void> {
    std::vector<std::int64_t> last(static_cast<std::size_t>(senders), -1);
    while (const auto value = co_await c.async_next()) {
      std::int64_t& before = last[*value >> 32];
      const auto number = static_cast<std::int64_t>(*value & 0xffffffff);
      EXPECT_LT(before, number) << "values of one sender have changed places";
      before = number;
      sum += *value & 0xffffffff;
      ++count;
    }
  };
  std::vector<std::future<void>> ends;
  for (int s = 0; s != senders; ++s)
    ends.push_back(co_spawn(s % 2 ? pool : other, produce(s), weft::use_future));
  for (int r = 0; r != receivers; ++r)
    ends.push_back(co_spawn(r % 2 ? other : pool, consume(), weft::use_future));
  for (auto& end : ends)
    end.get();
  const auto n = static_cast<std::uint64_t>(each);
  EXPECT_EQ(count, n * static_cast<std::uint64_t>(senders));
  EXPECT_EQ(sum, static_cast<std::uint64_t>(senders) * (n * (n - 1) / 2));
}

TEST(channel_threads, lose_no_value) {
  for (const std::size_t capacity :
       {std::size_t(0), std::size_t(1), std::size_t(2), std::size_t(64), weft::unbounded})
    exchange_between_threads(capacity, 2, 2, 2000);
}

TEST(channel_threads, lose_no_value_among_many) {
  exchange_between_threads(16, 8, 8, 500);
}

TEST(channel_threads, find_what_they_have_sent_themselves) {
  for (const std::size_t capacity : {2, 3}) {
    io_context context;
    channel<int> c(context, capacity);
    const auto pass = [&] {
      for (int i = 0; i != 20000; ++i) {
        EXPECT_TRUE(c.try_send(i)) << "there is room for one value of each thread";
        EXPECT_TRUE(c.try_receive()) << "there is a value, at least its own";
      }
    };
    std::thread other(pass);
    pass();
    other.join();
    EXPECT_EQ(c.size(), 0u);
  }
}

TEST(channel_threads, take_over_a_channel_of_another_thread) {
  io_context context;
  channel<int> c(context, 4);
  int sent = 0;
  int expected = 0;
  const auto pass = [&] {
    for (int lap = 0; lap != 40; ++lap) {
      while (c.try_send(sent))
        ++sent;
      while (const auto value = c.try_receive())
        EXPECT_EQ(*value, expected++);
    }
    EXPECT_TRUE(c.try_send(sent++));
  };
  pass();
  std::thread(pass).join();
  std::thread receiver([&] {
    for (int i = 0; i != 20000;) {
      if (const auto value = c.try_receive()) {
        EXPECT_EQ(*value, expected++);
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (int i = 1; i != 20000;) {
    if (c.try_send(sent)) {
      ++sent;
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
  receiver.join();
  EXPECT_EQ(expected, sent);
}

TEST(channel_threads, meet_one_that_has_had_both_ends) {
  // The owner of the ring goes on while another one comes: with values, waits, and the end.
  for (int round = 0; round != 200; ++round) {
    io_context context;
    channel<int> c(context, 4);
    int sum = 0;
    int left = 2;
    const auto produce = [&](int count) -> awaitable<void> {
      for (int i = 0; i != count; ++i)
        co_await c.async_send(1);
    };
    const auto consume = [&]() -> awaitable<void> {
      while (const auto value = co_await c.async_next())
        sum += *value;
    };
    co_spawn(context, produce(1000), [&](std::exception_ptr) {
      if (--left == 0)
        c.close();
    });
    co_spawn(context, consume(), detached);
    std::thread other([&] {
      for (int i = 0; i != 100; ++i)
        while (!c.try_send(1))
          std::this_thread::yield();
      weft::post(context, [&] {
        if (--left == 0)
          c.close();
      });
    });
    const auto work = weft::make_work_guard(context);
    while (left != 0)
      context.run_one();
    other.join();
    context.restart();
    context.poll();
    EXPECT_EQ(sum, 1100);
  }
}

TEST(channel_threads, lose_no_value_to_cancelled_waits) {
  weft::thread_pool pool(2);
  channel<int> c(pool, 1);
  constexpr int count = 2000;
  int got = 0;
  std::atomic<bool> done{false};
  std::thread canceller([&] {
    while (!done) {
      c.cancel();
      std::this_thread::yield();
    }
  });
  const auto produce = [&]() -> awaitable<void> {
    for (int i = 0; i != count;) {
      const auto [ec] = co_await c.async_send(i, as_tuple);
      i += !ec;
    }
    c.close();
  };
  const auto consume = [&]() -> awaitable<void> {
    for (;;) {
      const auto [ec, value] = co_await c.async_receive(as_tuple);
      if (ec == error::channel_closed)
        break;
      if (ec)
        continue;
      EXPECT_EQ(value, got++);
    }
  };
  auto sender = co_spawn(pool, produce, weft::use_future);
  auto receiver = co_spawn(pool, consume, weft::use_future);
  sender.get();
  receiver.get();
  done = true;
  canceller.join();
  EXPECT_EQ(got, count);
}

// ---- misuse

TEST(channel_death, a_local_one_is_used_by_one_thread) {
  expect_assertion(
      [] {
        io_context context;
        channel<int, sharing::local> c(context, 1);
        c.try_send(1);
        std::thread([&] { c.try_receive(); }).join();
      },
      "sharing::concurrent");
}

TEST(channel_death, one_that_has_been_moved_from_is_not_used) {
  expect_assertion(
      [] {
        io_context context;
        channel<int> c(context, 1);
        const channel<int> kept(std::move(c));
        c.try_send(1);
      },
      "is used that has been moved from");
}

TEST(channel_death, what_it_holds_is_bounded_by_32_bits_or_not_at_all) {
  expect_assertion(
      [] {
        io_context context;
        const channel<int> c(context, std::size_t{1} << 32);
      },
      "fewer than 2.32 values");
}

}  // namespace
