// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <weft.hpp>
#include <weft/experimental/channel.hpp>
#include <weft/experimental/concurrent_channel.hpp>

namespace {

namespace experimental = weft::experimental;
using weft::error_code;
using message_signature = void(error_code, int);

template <class Channel>
class experimental_channel : public ::testing::Test {
 public:
  void run() {
    context.restart();
    context.poll();
  }
  weft::io_context context;
};
using channels =
    ::testing::Types<experimental::channel<message_signature>,
                     experimental::concurrent_channel<message_signature>,
                     experimental::channel<weft::io_context::executor_type, message_signature>>;
TYPED_TEST_SUITE(experimental_channel, channels);

TYPED_TEST(experimental_channel, tries) {
  TypeParam c(this->context, 2);
  EXPECT_EQ(c.capacity(), 2u);
  EXPECT_FALSE(c.ready());
  EXPECT_TRUE(c.try_send(error_code(), 1));
  EXPECT_TRUE(c.ready());
  EXPECT_EQ(c.try_send_n(5, error_code(), 2), 1u);
  EXPECT_FALSE(c.try_send_via_dispatch(error_code(), 3));
  std::vector<int> got;
  const auto note = [&](error_code, int value) { got.push_back(value); };
  while (c.try_receive(note)) {}
  EXPECT_EQ(got, (std::vector<int>{1, 2}));
}

TEST(experimental_channels, leaves_a_value_that_it_does_not_take) {
  weft::io_context context;
  experimental::concurrent_channel<void(error_code, std::unique_ptr<int>)> c(context, 1);
  EXPECT_TRUE(c.try_send(error_code(), std::make_unique<int>(1)));
  auto value = std::make_unique<int>(2);
  EXPECT_FALSE(c.try_send(error_code(), std::move(value)));
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 2);
  c.close();
  EXPECT_FALSE(c.try_send(error_code(), std::move(value)));
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 2);
}

TYPED_TEST(experimental_channel, carries_the_error_with_the_message) {
  TypeParam c(this->context, 0);
  error_code sent = weft::error::eof;
  error_code got;
  int value = 0;
  c.async_send(weft::error::eof, 4, [&](error_code ec) { sent = ec; });
  c.async_receive([&](error_code ec, int v) {
    got = ec;
    value = v;
  });
  this->run();
  EXPECT_EQ(sent, error_code());
  EXPECT_EQ(got, weft::error::eof);
  EXPECT_EQ(value, 4);
}

TYPED_TEST(experimental_channel, tells_of_its_cancellation_and_its_end) {
  TypeParam c(this->context, 0);
  std::vector<error_code> ends;
  const auto receive = [&] { c.async_receive([&](error_code ec, int) { ends.push_back(ec); }); };
  receive();
  c.cancel();
  c.async_send(error_code(), 1, [&](error_code ec) { ends.push_back(ec); });
  c.cancel();
  receive();
  c.close();
  EXPECT_FALSE(c.is_open());
  receive();
  c.async_send(error_code(), 1, [&](error_code ec) { ends.push_back(ec); });
  this->run();
  namespace error = experimental::error;
  EXPECT_EQ(ends, (std::vector<error_code>{error::channel_cancelled, error::channel_cancelled,
                                           error::channel_closed, error::channel_closed,
                                           error::channel_closed}));
}

TYPED_TEST(experimental_channel, begins_anew_when_reset) {
  TypeParam c(this->context, 1);
  c.try_send(error_code(), 1);
  c.close();
  c.reset();
  EXPECT_TRUE(c.is_open());
  EXPECT_FALSE(c.ready());
  EXPECT_TRUE(c.try_send(error_code(), 2));
}

TYPED_TEST(experimental_channel, is_awaited) {
  TypeParam c(this->context, 0);
  std::vector<int> got;
  const auto produce = [&]() -> weft::awaitable<void> {
    for (int i = 0; i != 3; ++i)
      co_await c.async_send(error_code(), i, weft::use_awaitable);
    co_await c.async_send(error_code(), 3);
    c.close();
  };
  const auto consume = [&]() -> weft::awaitable<void> {
    for (;;) {
      const auto [ec, value] = co_await c.async_receive(weft::as_tuple);
      if (ec)
        break;
      got.push_back(value);
    }
  };
  co_spawn(this->context, produce, weft::detached);
  co_spawn(this->context, consume, weft::detached);
  this->context.run();
  EXPECT_EQ(got, (std::vector<int>{0, 1, 2, 3}));
}

TEST(experimental_channel_of_two_signatures, gives_each_message_as_it_was_sent) {
  weft::io_context context;
  experimental::channel<void(error_code, std::string), void()> c(context, 2);
  struct handler {
    std::vector<std::string>& got;
    void operator()(error_code ec, std::string s) { got.push_back(ec ? "error" : s); }
    void operator()() { got.emplace_back("nothing"); }
  };
  std::vector<std::string> got;
  c.try_send();
  c.try_send(error_code(), "text");
  for (int i = 0; i != 3; ++i)
    c.async_receive(handler{got});
  c.close();
  context.run();
  EXPECT_EQ(got, (std::vector<std::string>{"nothing", "text", "error"}));
}

TEST(experimental_channel_without_an_error, has_a_signature_more_for_its_end) {
  weft::io_context context;
  experimental::channel<void()> c(context, 1);
  struct handler {
    int& calls;
    void operator()() { ++calls; }
    void operator()(error_code ec) { calls += ec == experimental::error::channel_closed ? 10 : 0; }
  };
  int calls = 0;
  c.async_receive(handler{calls});
  c.async_receive(handler{calls});
  c.try_send();
  c.close();
  context.run();
  EXPECT_EQ(calls, 11);
}

}  // namespace
