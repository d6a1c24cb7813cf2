// SPDX-License-Identifier: BSL-1.0
// P9: with two or more threads in run(), a handler that blocks holds up nobody else. Each handler
// that blocks here waits for what only the others' completion releases.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <future>
#include <thread>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/io/buffer.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/kernel.hpp"

namespace {

using namespace std::chrono_literals;

class blocked_worker : public weft_test::kernel_test {
 protected:
  struct pipe {
    explicit pipe(weft::io_context& context) : in(context), out(context) {
      weft::connect_pipe(in, out);
    }
    void ring() { weft::write(out, weft::buffer("x", 1)); }

    weft::readable_pipe in;
    weft::writable_pipe out;
    std::array<char, 64> bytes;
  };

  template <class F>
  static void when_rung(pipe& p, F f) {
    p.in.async_read_some(weft::buffer(p.bytes), [f](weft::error_code ec, std::size_t) mutable {
      EXPECT_FALSE(ec);
      f();
    });
  }

  /// Runs the context on several threads until it has no work.
  void run_on(unsigned threads) {
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back([this] { context.run(); });
    context.run();
    for (std::thread& t : others)
      t.join();
  }
};
WEFT_INSTANTIATE_KERNELS(blocked_worker);

TEST_P(blocked_worker, leaves_what_it_has_posted_to_others) {
  for (unsigned threads : {2u, 3u, 5u}) {
    context.restart();
    std::promise<void> done;
    weft::post(context, [&] {
      weft::post(context, [&] { done.set_value(); });
      done.get_future().wait();
    });
    run_on(threads);
  }
}

TEST_P(blocked_worker, leaves_the_rest_of_its_events_to_others) {
  pipe first(context), second(context);
  std::promise<void> done;
  std::atomic<int> order{0};
  const auto handler = [&] {
    if (order.fetch_add(1) == 0)
      done.get_future().wait();
    else
      done.set_value();
  };
  when_rung(first, handler);
  when_rung(second, handler);
  first.ring();
  second.ring();
  run_on(2);
}

TEST_P(blocked_worker, leaves_polling_to_others) {
  for (unsigned threads : {2u, 4u}) {
    context.restart();
    pipe first(context), second(context);
    std::promise<void> done;
    when_rung(first, [&] {
      second.ring();
      done.get_future().wait();
    });
    when_rung(second, [&] { done.set_value(); });
    weft::post(context, [&] { first.ring(); });
    run_on(threads);
  }
}

TEST_P(blocked_worker, leaves_timers_to_others) {
  pipe bell(context);
  weft::steady_timer timer(context);
  std::promise<void> done;
  when_rung(bell, [&] {
    timer.expires_after(1us);
    timer.async_wait([&](weft::error_code) { done.set_value(); });
    done.get_future().wait();
  });
  bell.ring();
  run_on(2);
}

TEST_P(blocked_worker, is_found_while_the_others_have_events_all_the_time) {
  pipe bell(context);
  std::atomic<bool> released{false};
  std::promise<void> done;
  weft::post(context, [&] {
    weft::post(context, [&] { done.set_value(); });
    done.get_future().wait();
    released = true;
  });
  std::function<void()> again = [&] {
    if (released)
      return;
    bell.ring();
    when_rung(bell, again);
  };
  weft::post(context, again);
  run_on(2);
}

// Each of the first takes what the one before has left, and blocks too: the last polls.
TEST_P(blocked_worker, with_another_that_blocks_leaves_the_rest_to_a_third) {
  for (unsigned threads : {3u, 4u}) {
    context.restart();
    weft::steady_timer timer(context);
    std::promise<void> done;
    const std::shared_future<void> released = done.get_future().share();
    std::atomic<unsigned> blocked{1};
    std::function<void()> block = [&] {
      if (blocked.fetch_add(1) != threads - 1)
        weft::post(context, block);
      else
        timer.expires_after(1us), timer.async_wait([&](weft::error_code) { done.set_value(); });
      released.wait();
    };
    weft::post(context, block);
    run_on(threads);
  }
}

TEST_P(blocked_worker, does_not_keep_what_comes_from_outside) {
  std::promise<void> blocked, done;
  weft::post(context, [&] {
    blocked.set_value();
    done.get_future().wait();
  });
  std::thread outside([&] {
    blocked.get_future().wait();
    weft::post(context, [&] { done.set_value(); });
  });
  run_on(2);
  outside.join();
}

}  // namespace
