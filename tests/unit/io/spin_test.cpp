// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/config.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"

namespace {

using namespace std::chrono_literals;

weft::io_context_options spinning(weft::backend_kind kind) {
  weft::io_context_options options = weft_test::make_context_options(kind);
  options.spin = 1h;  // as good as for ever: what ends it must be something else
  return options;
}

class spin : public testing::TestWithParam<weft::backend_kind> {
 protected:
  weft::io_context context{spinning(GetParam())};
};

TEST_P(spin, ends_when_no_work_is_left) {
  int n = 0;
  post(context, [&] { ++n; });
  EXPECT_EQ(context.run(), 1u);
  context.restart();
  post(context, [&] { post(context, [&] { ++n; }); });
  EXPECT_EQ(context.run(), 2u);
  EXPECT_EQ(n, 2);
}

TEST_P(spin, takes_what_other_threads_post) {
  auto work = make_work_guard(context);
  std::thread runner([&] { context.run(); });
  for (int i = 0; i != 1000; ++i) {
    std::promise<void> done;
    post(context, [&] { done.set_value(); });
    done.get_future().wait();
  }
  work.reset();
  runner.join();
}

TEST_P(spin, ends_by_stop_and_by_a_deadline) {
  auto work = make_work_guard(context);
  std::promise<void> ran;
  post(context, [&] { ran.set_value(); });
  std::thread runner([&] { context.run(); });
  ran.get_future().wait();
  context.stop();
  runner.join();
  context.restart();
  post(context, [] {});
  EXPECT_EQ(context.run_for(1ms), 1u);
}

TEST_P(spin, takes_events_and_timers) {
  weft::readable_pipe in(context);
  weft::writable_pipe out(context);
  connect_pipe(in, out);
  weft::steady_timer timer(context, 1ms);
  char received = 0;
  timer.async_wait([&](weft::error_code ec) {
    EXPECT_FALSE(ec);
    std::thread([&] { write(out, weft::buffer("x", 1)); }).join();
  });
  in.async_read_some(weft::buffer(&received, 1),
                     [](weft::error_code ec, std::size_t) { EXPECT_FALSE(ec); });
  post(context, [] {});
  context.run();
  EXPECT_EQ(received, 'x');
}

// P9: it is one of the workers that look after a blocked one.
TEST_P(spin, takes_what_waits_behind_a_handler_that_blocks) {
  auto work = make_work_guard(context);
  std::thread second([&] { context.run(); });
  std::thread third([&] { context.run(); });
  for (int i = 0; i != 20; ++i) {
    std::promise<void> outer;
    post(context, [&] {
      std::promise<void> inner;
      post(context, [&] { inner.set_value(); });
      inner.get_future().wait();
      outer.set_value();
    });
    outer.get_future().wait();
  }
  work.reset();
  second.join();
  third.join();
}

TEST_P(spin, may_be_configured) {
  weft::io_context configured{weft::config_from_string("scheduler.spin=3600000000000")};
  post(configured, [] {});
  EXPECT_EQ(configured.run(), 1u);
}

WEFT_INSTANTIATE_BACKENDS(spin);

}  // namespace
