// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/broadcast.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <weft/async/as_tuple.hpp>
#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/use_future.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>

#include "support/cancellable.hpp"
#include "support/misuse.hpp"
#include "unit/sync/completions.hpp"

namespace {

using weft::broadcast;
using weft::error_code;
using weft::io_context;
using weft_test::cancellable;
using weft_test::expect_assertion;
using weft_test::received;
namespace error = weft::error;
namespace sharing = weft::sharing;

template <class Policy>
class broadcast_test : public ::testing::Test {
 public:
  void run() {
    context.restart();
    context.poll();
  }
  io_context context;
};
using policies = ::testing::Types<sharing::concurrent, sharing::local>;
TYPED_TEST_SUITE(broadcast_test, policies);

TYPED_TEST(broadcast_test, gives_every_value_to_every_receiver) {
  broadcast<std::string, TypeParam> b(this->context, 4);
  b.send("before");
  typename broadcast<std::string, TypeParam>::receiver one(b);
  typename broadcast<std::string, TypeParam>::receiver two(b);
  received<std::string> waits[2];
  one.async_receive(waits[0].handler());
  one.async_receive(waits[1].handler());
  EXPECT_TRUE(b.send("first"));
  this->run();
  EXPECT_EQ(waits[0].value, "first");
  EXPECT_FALSE(waits[1].ec);
  b.send("second");
  received<std::string> later[2];
  two.async_receive(later[0].handler());
  two.async_receive(later[1].handler());
  this->run();
  EXPECT_EQ(waits[1].value, "second");
  EXPECT_EQ(later[0].value, "first");
  EXPECT_EQ(later[1].value, "second");
}

TYPED_TEST(broadcast_test, tells_a_slow_receiver_what_it_has_missed) {
  broadcast<int, TypeParam> b(this->context, 2);
  typename broadcast<int, TypeParam>::receiver r(b);
  for (int i = 0; i != 5; ++i)
    b.send(i);
  received<int> got[4];
  for (auto& each : got)
    r.async_receive(each.handler());
  this->run();
  EXPECT_EQ(got[0].ec, error::channel_lagged);
  EXPECT_EQ(r.take_missed(), 3u);
  EXPECT_EQ(r.take_missed(), 0u);
  EXPECT_EQ(got[1].value, 3);
  EXPECT_EQ(got[2].value, 4);
  EXPECT_FALSE(got[3].ec);
}

TYPED_TEST(broadcast_test, closed_it_gives_what_is_left) {
  auto b = std::make_unique<broadcast<int, TypeParam>>(this->context, 2);
  typename broadcast<int, TypeParam>::receiver r(*b);
  typename broadcast<int, TypeParam>::receiver waiting(*b);
  b->send(1);
  received<int> got[2];
  received<int> waited[2];
  for (auto& each : waited)
    waiting.async_receive(each.handler());
  b->close();
  EXPECT_FALSE(b->send(2));
  EXPECT_FALSE(b->is_open());
  b.reset();
  for (auto& each : got)
    r.async_receive(each.handler());
  this->run();
  EXPECT_EQ(got[0].value, 1);
  EXPECT_EQ(got[1].ec, error::channel_closed);
  EXPECT_EQ(waited[0].value, 1);
  EXPECT_EQ(waited[1].ec, error::channel_closed);
}

TYPED_TEST(broadcast_test, cancels_one_wait_or_one_receiver) {
  broadcast<int, TypeParam> b(this->context, 2);
  weft::cancellation_signal signal;
  received<int> got[3];
  typename broadcast<int, TypeParam>::receiver one(b);
  one.async_receive(cancellable(signal, got[0].handler()));
  {
    typename broadcast<int, TypeParam>::receiver two(b);
    two.async_receive(got[1].handler());
  }
  one.async_receive(got[2].handler());
  signal.emit(weft::cancellation_type::terminal);
  b.send(1);
  this->run();
  EXPECT_EQ(got[0].ec, error::operation_aborted);
  EXPECT_EQ(got[1].ec, error::operation_aborted);
  EXPECT_EQ(got[2].value, 1);
}

TYPED_TEST(broadcast_test, a_context_may_end_while_it_waits) {
  auto own = std::make_unique<io_context>();
  auto b = std::make_shared<broadcast<int, TypeParam>>(*own, 2);
  auto r = std::make_shared<typename broadcast<int, TypeParam>::receiver>(*b);
  const std::weak_ptr observer = r;
  r->async_receive([b, r](error_code, int) { FAIL(); });
  b.reset();
  r.reset();
  own.reset();
  EXPECT_TRUE(observer.expired());
}

TEST(broadcast_threads, every_receiver_sees_an_ascending_sequence) {
  weft::thread_pool pool(2);
  broadcast<int> b(pool, 8);
  const auto consume = [](broadcast<int>::receiver& r) -> weft::awaitable<int> {
    int last = 0;
    int seen = 0;
    for (;;) {
      const auto [ec, value] = co_await r.async_receive(weft::as_tuple);
      if (ec == error::channel_closed)
        break;
      if (ec == error::channel_lagged) {
        seen += static_cast<int>(r.take_missed());
        continue;
      }
      EXPECT_LT(last, value);
      last = value;
      ++seen;
    }
    co_return seen;
  };
  broadcast<int>::receiver one(b);
  broadcast<int>::receiver two(b);
  auto first = co_spawn(pool, consume(one), weft::use_future);
  auto second = co_spawn(pool, consume(two), weft::use_future);
  constexpr int count = 5000;
  for (int i = 1; i <= count; ++i)
    b.send(i);
  b.close();
  EXPECT_EQ(first.get(), count);
  EXPECT_EQ(second.get(), count);
}

TYPED_TEST(broadcast_test, gives_without_waiting_what_is_there) {
  broadcast<int, TypeParam> b(this->context, 2);
  typename broadcast<int, TypeParam>::receiver r(b);
  EXPECT_EQ(r.try_receive(), std::nullopt);
  b.send(1);
  b.send(2);
  EXPECT_EQ(r.try_receive(), 1);
  b.send(3);
  b.send(4);
  EXPECT_EQ(r.try_receive(), 3) << "the oldest that is left";
  EXPECT_EQ(r.take_missed(), 1u);
  b.close();
  received<int> last, end;
  r.async_receive(last.handler());
  r.async_receive(end.handler());
  this->run();
  EXPECT_EQ(last.value, 4);
  EXPECT_EQ(end.ec, error::channel_closed);
  EXPECT_EQ(r.try_receive(), std::nullopt);
}

/// A number that cannot be copied as long as it is `dear`.
struct dear_number {
  dear_number() = default;
  explicit dear_number(int n) : number(n) {}
  dear_number(const dear_number& other) : number(other.number) {
    if (dear)
      throw std::bad_alloc();
  }
  dear_number(dear_number&&) = default;
  dear_number& operator=(dear_number&&) = default;

  int number = 0;
  static inline bool dear = false;
};

TYPED_TEST(broadcast_test, a_value_that_cannot_be_copied_yet_is_not_lost_nor_is_who_waits) {
  broadcast<dear_number, TypeParam> b(this->context, 4);
  typename broadcast<dear_number, TypeParam>::receiver r(b);
  received<dear_number> got;
  weft::cancellation_signal signal;
  r.async_receive(weft::bind_cancellation_slot(signal.slot(), got.handler()));
  b.send(dear_number(7));
  dear_number::dear = true;
  for (int i = 0; i != 3; ++i) {
    EXPECT_THROW(this->run(), std::bad_alloc);
    EXPECT_FALSE(got.ec);
  }
  signal.emit(weft::cancellation_type::terminal);
  dear_number::dear = false;
  this->run();
  EXPECT_EQ(got.ec, error_code());
  EXPECT_EQ(got.value.number, 7);

  b.send(dear_number(8));
  dear_number::dear = true;
  received<dear_number> next;
  r.async_receive(next.handler());
  EXPECT_THROW(this->run(), std::bad_alloc);
  dear_number::dear = false;
  this->run();
  EXPECT_EQ(next.value.number, 8);
}

// ---- misuse

TEST(broadcast_death, it_keeps_at_least_one_value) {
  expect_assertion(
      [] {
        io_context context;
        const broadcast<int> all(context, 0);
      },
      "keeps at least one value");
}

TEST(local_broadcast_death, a_second_thread_is_told_of) {
  expect_assertion(
      [] {
        io_context context;
        broadcast<int, sharing::local> all(context, 1);
        all.send(1);
        std::thread([&] { all.send(2); }).join();
      },
      "a second thread uses an object of policy sharing::local");
}

}  // namespace
