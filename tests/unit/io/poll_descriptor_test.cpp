// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/connect_pipe.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/io/stream_descriptor.hpp>
#include <weft/io/writable_pipe.hpp>
#include <weft/io/write.hpp>

#include "support/backend.hpp"
#include "support/child.hpp"

namespace {

using namespace std::chrono_literals;
using weft::error_code;

/// A foreign loop on a context, which it serves only when the descriptor tells it to.
class foreign_loop {
 public:
  explicit foreign_loop(weft::io_context& served)
      : context(served), descriptor(served.poll_descriptor()) {}

  bool is_readable(int timeout = 0) const {
    pollfd p{descriptor, POLLIN, 0};
    int n = 0;
    while ((n = ::poll(&p, 1, timeout)) < 0 && errno == EINTR) {}
    return n == 1;
  }

  /// Serves the context until `done`. Fails if the descriptor does not become readable.
  template <class Predicate>
  void serve_until(Predicate done) {
    while (!done()) {
      ASSERT_TRUE(is_readable(20'000)) << "a wake-up is lost";
      context.poll();
    }
  }

  /// Serves the context until there is nothing to do. Fails if it is told without end that there
  /// is.
  void settle() {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (is_readable()) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "it does not become quiet";
      context.poll();
    }
  }

  weft::io_context& context;
  const int descriptor;
};

class poll_descriptor_on : public weft_test::backend_test {
 protected:
  /// A quiet loop over the context.
  foreign_loop& loop() {
    if (!loop_) {
      loop_.emplace(context);
      loop_->settle();
    }
    return *loop_;
  }

  weft::executor_work_guard<weft::io_context::executor_type> guard{context.get_executor()};
  std::optional<foreign_loop> loop_;
};
WEFT_INSTANTIATE_BACKENDS(poll_descriptor_on);

/// A pipe and the number of bytes that have come out of it.
struct counted_pipe {
  explicit counted_pipe(weft::io_context& context) : in(context), out(context) {
    weft::connect_pipe(in, out);
  }
  void read() {
    in.async_read_some(weft::buffer(&byte, 1), [this](error_code ec, std::size_t n) {
      EXPECT_FALSE(ec);
      bytes += n;
    });
  }
  void write() { weft::write(out, weft::buffer("x", 1)); }

  weft::readable_pipe in;
  weft::writable_pipe out;
  char byte = 0;
  std::size_t bytes = 0;
};

TEST_P(poll_descriptor_on, is_readable_until_the_first_poll_has_found_nothing) {
  foreign_loop fresh(context);
  EXPECT_TRUE(fresh.is_readable(20'000));
  EXPECT_EQ(context.poll(), 0u);
  fresh.settle();
  EXPECT_EQ(context.poll_descriptor(), fresh.descriptor);
}

TEST_P(poll_descriptor_on, tells_of_what_was_posted_before_it_was_made) {
  bool ran = false;
  weft::post(context, [&] { ran = true; });
  foreign_loop(context).serve_until([&] { return ran; });
}

TEST_P(poll_descriptor_on, tells_of_posts_of_this_thread_and_of_others) {
  int ran = 0;
  const auto post = [&] { weft::post(context, [&] { ++ran; }); };
  for (int i = 1; i <= 100; ++i) {
    ASSERT_FALSE(loop().is_readable());
    if (i % 2 == 0)
      post();
    else
      std::thread(post).join();
    ASSERT_TRUE(loop().is_readable(20'000));
    ASSERT_EQ(context.poll(), 1u);
    ASSERT_EQ(ran, i);
    loop().settle();
  }
}

TEST_P(poll_descriptor_on, tells_of_what_a_poll_has_left) {
  int ran = 0;
  loop();
  for (int i = 0; i != 3; ++i)
    weft::post(context, [&] { ++ran; });
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(loop().is_readable(20'000));
    ASSERT_EQ(context.poll_one(), 1u);
    ASSERT_EQ(ran, i);
  }
  loop().settle();
}

TEST_P(poll_descriptor_on, tells_of_what_an_exception_has_left) {
  bool ran = false;
  loop();
  weft::post(context, [] { throw std::runtime_error("from a handler"); });
  weft::post(context, [&] { ran = true; });
  EXPECT_THROW(context.poll(), std::runtime_error);
  loop().serve_until([&] { return ran; });
}

TEST_P(poll_descriptor_on, tells_of_timers_that_handlers_and_others_arm) {
  int fired = 0;
  weft::steady_timer mine(context), handlers(context), others(context), late(context);
  const auto arm = [&](weft::steady_timer& timer) {
    timer.expires_after(1ms);
    timer.async_wait([&](error_code ec) { fired += !ec; });
  };
  late.expires_after(1h);
  late.async_wait([](error_code) {});
  loop();

  arm(mine);
  loop().serve_until([&] { return fired == 1; });
  loop().settle();
  std::thread([&] { arm(others); }).join();
  loop().serve_until([&] { return fired == 2; });
  loop().settle();
  weft::post(context, [&] { arm(handlers); });
  loop().serve_until([&] { return fired == 3; });
  loop().settle();
  late.cancel();
}

TEST_P(poll_descriptor_on, is_quiet_when_the_timer_it_was_armed_for_is_cancelled) {
  weft::steady_timer timer(context, 1ms);
  bool done = false;
  timer.async_wait([&](error_code) { done = true; });
  loop();
  timer.cancel();
  loop().serve_until([&] { return done; });
  loop().settle();
}

TEST_P(poll_descriptor_on, tells_of_bytes_that_were_waited_for) {
  counted_pipe pipe(context);
  for (std::size_t i = 1; i <= 20; ++i) {
    pipe.read();
    loop().settle();
    ASSERT_EQ(pipe.bytes, i - 1);
    pipe.write();
    loop().serve_until([&] { return pipe.bytes == i; });
    loop().settle();
  }
}

TEST_P(poll_descriptor_on, tells_of_reads_that_the_last_handler_has_started) {
  counted_pipe pipe(context);
  loop();
  for (std::size_t i = 1; i <= 20; ++i) {
    weft::post(context, [&] { pipe.read(); });
    ASSERT_EQ(context.poll_one(), 1u);
    loop().settle();
    ASSERT_EQ(pipe.bytes, i - 1);
    pipe.write();
    loop().serve_until([&] { return pipe.bytes == i; });
  }
}

TEST_P(poll_descriptor_on, tells_of_reads_whose_thread_has_exited) {
  counted_pipe pipe(context);
  std::thread([&] {
    weft::post(context, [&] { pipe.read(); });
    foreign_loop(context).settle();
  }).join();
  loop().settle();
  pipe.write();
  loop().serve_until([&] { return pipe.bytes == 1; });
  std::thread([&] { weft::post(context, [&] { ++pipe.bytes; }); }).join();
  loop().serve_until([&] { return pipe.bytes == 2; });
}

TEST_P(poll_descriptor_on, is_quiet_beside_bytes_that_nobody_reads) {
  counted_pipe pipe(context);
  pipe.read();
  loop();
  pipe.write();
  loop().serve_until([&] { return pipe.bytes == 1; });
  pipe.write();
  loop().settle();
}

TEST_P(poll_descriptor_on, tells_of_stop_and_after_restart_of_what_was_left) {
  bool ran = false;
  loop();
  weft::post(context, [&] { ran = true; });
  std::thread([&] { context.stop(); }).join();
  EXPECT_TRUE(loop().is_readable(20'000));
  loop().settle();
  EXPECT_TRUE(context.stopped());
  EXPECT_FALSE(ran);
  context.restart();
  loop().serve_until([&] { return ran; });
}

TEST_P(poll_descriptor_on, tells_that_work_has_run_out) {
  loop();
  std::thread([&] { guard.reset(); }).join();
  EXPECT_TRUE(loop().is_readable(20'000));
  loop().settle();
  EXPECT_TRUE(context.stopped());
}

TEST_P(poll_descriptor_on, becomes_quiet_without_work_though_restarted_for_each_poll) {
  counted_pipe pipe(context);
  pipe.read();
  loop();
  guard.reset();
  pipe.write();
  loop().serve_until([&] { return pipe.bytes == 1; });
  pipe.write();  // an event, but no work
  int polls = 0;
  do {
    ASSERT_LT(++polls, 1000);
    context.restart();
    context.poll();
  } while (loop().is_readable());
}

TEST_P(poll_descriptor_on, is_left_to_threads_in_run_and_told_of_what_they_leave) {
  weft::steady_timer timer(context, 1ms);
  std::atomic<int> fired = 0;
  const auto count = [&](error_code) { ++fired; };
  timer.async_wait(count);
  foreign_loop fresh(context);  // readable, and armed for the timer or due
  std::latch left(1);
  std::thread other([&] {
    while (fired == 0)
      context.run_one();
    weft::post(context, [&] { left.count_down(); });
    context.run_one();
  });
  left.wait();
  fresh.settle();
  other.join();
  timer.expires_after(1ms);
  timer.async_wait(count);
  fresh.serve_until([&] { return fired == 2; });
}

TEST_P(poll_descriptor_on, becomes_quiet_while_another_thread_is_in_run) {
  weft::steady_timer timer(context, 1ms);
  bool fired = false;
  timer.async_wait([&](error_code) { fired = true; });
  foreign_loop fresh(context);
  std::latch inside(1), leave(1);
  std::thread other([&] {
    weft::post(context, [&] {
      inside.count_down();
      leave.wait();
    });
    while (!fired)
      context.run_one();
  });
  inside.wait();
  fresh.settle();
  leave.count_down();
  other.join();
  fresh.settle();
}

TEST_P(poll_descriptor_on, can_be_waited_on_in_another_epoll_set) {
  const int set = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  event.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(set, EPOLL_CTL_ADD, loop().descriptor, &event), 0);
  EXPECT_EQ(::epoll_wait(set, &event, 1, 0), 0);
  bool ran = false;
  weft::post(context, [&] { ran = true; });
  int n = 0;
  while ((n = ::epoll_wait(set, &event, 1, 20'000)) < 0 && errno == EINTR) {}
  EXPECT_EQ(n, 1);
  context.poll();
  EXPECT_TRUE(ran);
  ::close(set);
}

TEST_P(poll_descriptor_on, serves_a_child_process_under_the_same_number) {
  counted_pipe pipe(context);
  pipe.read();
  loop();
  EXPECT_TRUE(weft_test::succeeds_in_a_told_child(
      [&] {
        pipe.write();
        while (pipe.bytes == 0 && loop_->is_readable(20'000))
          context.poll();
        std::thread([&] { weft::post(context, [&] { ++pipe.bytes; }); }).join();
        while (pipe.bytes == 1 && loop_->is_readable(20'000))
          context.poll();
        return pipe.bytes == 2;
      },
      context));
  bool ran = false;
  loop().settle();
  weft::post(context, [&] { ran = true; });
  loop().serve_until([&] { return ran; });
  pipe.in.cancel();
}

TEST_P(poll_descriptor_on, serves_a_context_that_stays_on_one_thread) {
  weft::io_context single({.single_thread = true, .backend = GetParam()});
  const auto work = weft::make_work_guard(single);
  counted_pipe pipe(single);
  pipe.read();
  foreign_loop loop(single);
  pipe.write();
  loop.serve_until([&] { return pipe.bytes == 1; });
  loop.settle();
  pipe.read();
  pipe.write();
  loop.serve_until([&] { return pipe.bytes == 2; });
  weft::steady_timer timer(single, 1ms);
  timer.async_wait([&](error_code) { ++pipe.bytes; });
  loop.serve_until([&] { return pipe.bytes == 3; });
  loop.settle();

  weft::posix::stream_descriptor counter(single, ::eventfd(0, EFD_CLOEXEC));
  for (std::size_t i = 4; i != 10; ++i) {
    std::uint64_t value = 0;
    counter.async_read_some(weft::buffer(&value, sizeof value),
                            [&](error_code, std::size_t) { ++pipe.bytes; });
    loop.settle();
    value = 1;
    ASSERT_EQ(::write(counter.native_handle(), &value, sizeof value), ssize_t(sizeof value));
    loop.serve_until([&] { return pipe.bytes == i; });
  }
}

// Each thread goes on only when the loop has served it: a wake-up lost would be the last.
TEST_P(poll_descriptor_on, loses_no_wake_up_of_threads_that_post_arm_timers_and_write) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  struct peer {
    explicit peer(weft::io_context& context) : pipe(context), timer(context) {}
    counted_pipe pipe;
    weft::steady_timer timer;
    std::atomic<int> served = 0;
  };
  std::vector<std::unique_ptr<peer>> peers;
  for (int i = 0; i != threads; ++i)
    peers.push_back(std::make_unique<peer>(context));
  std::atomic<int> finished = 0;
  std::vector<std::thread> running;
  loop();
  for (auto& each : peers)
    running.emplace_back([&, p = each.get()] {
      for (int i = 0; i != rounds; ++i) {
        const auto serve = [p] {
          ++p->served;
          p->served.notify_one();
        };
        if (i % 3 == 0) {
          weft::post(context, serve);
        } else if (i % 3 == 1) {
          p->timer.expires_after(i % 2 * 10us);
          p->timer.async_wait([serve](error_code) { serve(); });
        } else {
          p->pipe.in.async_read_some(weft::buffer(&p->pipe.byte, 1),
                                     [serve](error_code, std::size_t) { serve(); });
          p->pipe.write();
        }
        p->served.wait(i);
      }
      weft::post(context, [&] { ++finished; });
    });
  loop().serve_until([&] { return finished == threads; });
  if (HasFatalFailure())
    std::abort();  // the threads wait for ever
  for (std::thread& t : running)
    t.join();
  loop().settle();
}

using poll_for_on = weft_test::backend_test;
WEFT_INSTANTIATE_BACKENDS(poll_for_on);

TEST_P(poll_for_on, runs_what_is_ready_and_does_not_wait) {
  int ran = 0;
  weft::steady_timer timer(context, 1h);
  timer.async_wait([](error_code) {});
  weft::post(context, [&] { ++ran; });
  weft::post(context, [&] { ++ran; });
  EXPECT_EQ(context.poll_for(1h), 2u);
  EXPECT_EQ(ran, 2);
}

TEST_P(poll_for_on, runs_nothing_when_its_time_has_passed) {
  weft::post(context, [] {});
  EXPECT_EQ(context.poll_for(0s), 0u);
  EXPECT_EQ(context.poll_until(std::chrono::steady_clock::now() - 1s), 0u);
  EXPECT_EQ(context.poll(), 1u);
}

// Handlers that post themselves without end: a poll would not return.
TEST_P(poll_for_on, returns_in_time_and_looks_for_events_whatever_is_posted) {
  counted_pipe pipe(context);
  pipe.read();
  pipe.write();
  std::function<void()> again = [&] { weft::post(context, again); };
  weft::post(context, again);
  while (pipe.bytes == 0)
    context.poll_for(10us);
}

}  // namespace
