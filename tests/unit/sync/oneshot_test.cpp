// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/oneshot.hpp>

#include <gtest/gtest.h>

#include <thread>

#include <weft/async/detached.hpp>
#include <weft/context/io_context.hpp>
#include <weft/coro/awaitable.hpp>
#include <weft/coro/co_spawn.hpp>

#include "unit/sync/completions.hpp"

namespace {

using weft::error_code;
using weft::io_context;
using weft::make_oneshot;
using weft_test::counted;
using weft_test::received;
namespace error = weft::error;
namespace sharing = weft::sharing;

template <class Policy>
class oneshot_test : public ::testing::Test {
 public:
  auto make() { return make_oneshot<counted, Policy>(context.get_executor()); }
  io_context context;
};
using policies = ::testing::Types<sharing::concurrent, sharing::local>;
TYPED_TEST_SUITE(oneshot_test, policies);

TYPED_TEST(oneshot_test, gives_the_value_to_who_waits_or_comes_later) {
  for (const bool waits : {true, false}) {
    auto [sender, receiver] = this->make();
    received<counted> r;
    if (waits)
      receiver.async_receive(r.handler());
    EXPECT_TRUE(sender);
    EXPECT_TRUE(sender.send(counted(3)));
    EXPECT_FALSE(sender);
    EXPECT_FALSE(sender.send(counted(4)));
    if (!waits)
      receiver.async_receive(r.handler());
    this->context.restart();
    this->context.run();
    EXPECT_EQ(r.ec, error_code());
    EXPECT_EQ(r.value.number, 3);
  }
  EXPECT_EQ(counted::alive, 0);
}

TYPED_TEST(oneshot_test, tells_the_receiver_that_the_sender_is_gone) {
  auto ends = this->make();
  received<counted> r;
  ends.receiver.async_receive(r.handler());
  { const auto sender = std::move(ends.sender); }
  this->context.run();
  EXPECT_EQ(r.ec, error::channel_closed);
}

TYPED_TEST(oneshot_test, tells_the_sender_that_the_receiver_is_gone) {
  auto ends = this->make();
  {
    auto receiver = std::move(ends.receiver);
    EXPECT_TRUE(ends.sender);
    auto other = this->make();
    receiver = std::move(other.receiver);
    EXPECT_FALSE(ends.sender);
    EXPECT_TRUE(other.sender);
  }
  counted value(5);
  EXPECT_FALSE(ends.sender.send(std::move(value)));
  EXPECT_EQ(value.number, 5);
}

TYPED_TEST(oneshot_test, keeps_a_value_until_the_receiver_is_gone) {
  {
    auto ends = this->make();
    ends.sender.send(counted(1));
    EXPECT_EQ(counted::alive, 1);
  }
  EXPECT_EQ(counted::alive, 0);
}

TEST(oneshot, passes_a_value_between_threads) {
  io_context context;
  auto ends = make_oneshot<int>(context.get_executor());
  int got = 0;
  const auto wait = [&]() -> weft::awaitable<void> {
    got = co_await ends.receiver.async_receive();
  };
  co_spawn(context, wait, weft::detached);
  std::thread other([&] { ends.sender.send(7); });
  context.run();
  other.join();
  EXPECT_EQ(got, 7);
}

}  // namespace
