// SPDX-License-Identifier: BSL-1.0
// Threads come and go in every way there is, while others post, stop and restart: every handler is
// called once or, with the context, destroyed.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>

#include "support/kernel.hpp"

namespace {

using namespace std::chrono_literals;

struct tally {
  std::atomic<int> posted{0}, called{0}, ended{0};
};

/// A handler that posts `depth` more, one from another.
class handler {
 public:
  handler(tally& t, weft::io_context& context, int depth)
      : tally_(&t), context_(&context), depth_(depth) {
    t.posted.fetch_add(1);
  }
  handler(handler&& other) noexcept
      : tally_(std::exchange(other.tally_, nullptr)),
        context_(other.context_),
        depth_(other.depth_) {}
  ~handler() {
    if (tally_)
      tally_->ended.fetch_add(1);
  }

  void operator()() {
    tally_->called.fetch_add(1);
    if (depth_ > 0)
      weft::post(*context_, handler(*tally_, *context_, depth_ - 1));
    if (depth_ % 7 == 3)
      weft::post(*context_, handler(*tally_, *context_, 0));
    if (depth_ % 31 == 5)
      throw depth_;
  }

 private:
  tally* tally_;
  weft::io_context* context_;
  int depth_;
};

using worker_churn = weft_test::kernel_test;
WEFT_INSTANTIATE_KERNELS(worker_churn);

void run_somehow(weft::io_context& context, unsigned& how) {
  try {
    switch (how++ % 6) {
      case 0: context.run_one(); break;
      case 1: context.poll(); break;
      case 2: context.poll_one(); break;
      case 3: context.run_for(100us); break;
      case 4: context.run_one_for(50us); break;
      case 5: context.run(); break;
    }
  } catch (int) {}
}

TEST_P(worker_churn, calls_every_handler_once) {
  tally t;
  std::atomic<bool> done{false};
  std::vector<std::thread> runners;
  auto work = std::make_unique<weft::executor_work_guard<weft::io_context::executor_type>>(
      context.get_executor());
  for (unsigned i = 0; i != 3; ++i)
    runners.emplace_back([&, how = i]() mutable {
      while (!done)
        run_somehow(context, how);
    });
  std::thread poster([&] {
    for (int i = 0; i != 400; ++i)
      weft::post(context, handler(t, context, i % 60));
  });
  std::thread stopper([&] {
    while (!done) {
      context.stop();
      context.restart();
      std::this_thread::yield();
    }
  });
  poster.join();
  while (t.called != t.posted || t.ended != t.posted)
    std::this_thread::yield();
  done = true;
  work.reset();
  stopper.join();
  context.stop();
  for (std::thread& r : runners)
    r.join();
  EXPECT_EQ(t.called, t.posted);
}

TEST_P(worker_churn, ends_every_handler_when_the_context_is_destroyed) {
  for (int round = 0; round != 20; ++round) {
    tally t;
    {
      weft::io_context inner(configuration());
      std::vector<std::thread> runners;
      for (int i = 0; i != 200; ++i)
        weft::post(inner, handler(t, inner, i % 60));
      for (unsigned i = 0; i != 2; ++i)
        runners.emplace_back([&, how = i]() mutable {
          while (!inner.stopped())
            run_somehow(inner, how);
        });
      while (t.called < 300)
        std::this_thread::yield();
      inner.stop();
      for (std::thread& r : runners)
        r.join();
    }
    EXPECT_EQ(t.ended, t.posted);
    EXPECT_LE(t.called, t.posted);
  }
}

// The thread that leaves has taken many out of the inbox; the one that stays always has something
// of its own to do.
TEST_P(worker_churn, leaves_what_it_has_not_run_to_a_thread_that_is_never_idle) {
  constexpr int count = 500;
  std::atomic<int> called{0};
  std::latch blocked(1), left(1);
  std::function<void()> again = [&] {
    if (called != count)
      weft::post(context, again);
  };
  weft::post(context, [&] {
    again();
    blocked.count_down();
    left.wait();
  });
  std::thread busy([&] { context.run(); });
  blocked.wait();
  for (int i = 0; i != count; ++i)
    weft::post(context, [&] { called.fetch_add(1); });
  EXPECT_EQ(context.run_one(), 1u);
  left.count_down();
  busy.join();
  EXPECT_EQ(called, count);
}

}  // namespace
