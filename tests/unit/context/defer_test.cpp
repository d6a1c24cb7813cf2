// SPDX-License-Identifier: BSL-1.0
#include <weft/context/defer.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <string>
#include <thread>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/properties.hpp>

namespace {

using weft::defer;
using weft::io_context;
using weft::post;

/// A handler that defers another, and so on, and one that posts six before it does.
class writer {
 public:
  writer(io_context& context, std::function<void(std::function<void()>)> defer)
      : context_(context), defer_(std::move(defer)) {}

  void start() {
    for (const char c : {'p', 'q', 'r', 's', 't', 'u'})
      post(context_, [this, c] { order_ += c; });
    defer_([this] { step(1); });
  }
  const std::string& order() const { return order_; }
  std::function<void()> at_end = [] {};

 private:
  void step(int n) {
    order_ += static_cast<char>('0' + n);
    if (n == 8)
      at_end();
    else
      defer_([this, n] { step(n + 1); });
  }

  io_context& context_;
  std::function<void(std::function<void()>)> defer_;
  std::string order_;
};

TEST(defer, is_the_same_as_post_where_one_thread_runs) {
  io_context context;
  writer w(context, [&](auto f) { defer(context, f); });
  post(context, [&] { w.start(); });
  context.run();
  EXPECT_EQ(w.order(), "pqrstu12345678");
}

/// The same while another thread runs, in a handler that blocks.
std::string order_among_several(std::function<void(io_context&, std::function<void()>)> defer) {
  io_context context;
  std::latch blocked(1), ended(1);
  post(context, [&] {
    blocked.count_down();
    ended.wait();
  });
  std::thread other([&] { context.run(); });
  blocked.wait();
  writer w(context, [&](auto f) { defer(context, f); });
  w.at_end = [&] { ended.count_down(); };
  post(context, [&] { w.start(); });
  context.run();
  other.join();
  return w.order();
}

TEST(defer, goes_first_where_several_run_but_lets_the_others_have_their_turn) {
  const std::string order = "123pqrstu45678";
  EXPECT_EQ(order_among_several([](io_context& c, auto f) { defer(c, f); }), order);
  EXPECT_EQ(order_among_several(
                [](io_context& c, auto f) { defer(weft::any_io_executor(c.get_executor()), f); }),
            order);
  EXPECT_EQ(order_among_several([](io_context& c, auto f) {
              weft::require(c.get_executor(), weft::execution::blocking.never,
                            weft::execution::relationship.continuation)
                  .execute(f);
            }),
            order);
  EXPECT_EQ(order_among_several([](io_context& c, auto f) { post(c, f); }), "pqrstu12345678");
}

TEST(defer, only_the_first_of_a_handler_goes_first) {
  std::string order;
  order_among_several([&](io_context& c, auto f) {
    defer(c, [&, f] {
      order += 'a';
      f();
    });
    defer(c, [&] { order += 'b'; });
  });
  // Each of the eight steps runs before the second function of the one before it, but every fourth.
  EXPECT_EQ(order.substr(0, 4), "aaab");
  EXPECT_EQ(order.size(), 16u);
}

}  // namespace
