// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include <weft/async/bind_executor.hpp>
#include <weft/context/io_context.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/steady_timer.hpp>

#include "support/backend.hpp"

namespace {

using namespace std::chrono_literals;

/// Two threads run the context while the test uses it from its own.
class timer_threads_test : public weft_test::backend_test {
 protected:
  void start() {
    for (int i = 0; i != 2; ++i)
      threads_.emplace_back([this] { context.run(); });
  }
  void finish() {
    work_.reset();
    threads_.clear();
  }
  ~timer_threads_test() override { finish(); }

 private:
  weft::executor_work_guard<weft::io_context::executor_type> work_{context.get_executor()};
  std::vector<std::jthread> threads_;
};

TEST_P(timer_threads_test, a_wait_armed_from_outside_wakes_a_context_that_sleeps_for_longer) {
  weft::steady_timer late(context, 10h);
  late.async_wait([](weft::error_code) {});
  start();
  for (int i = 0; i != 100; ++i) {
    std::latch done(1);
    weft::steady_timer timer(context, 1us);
    timer.async_wait([&](weft::error_code ec) {
      EXPECT_FALSE(ec);
      done.count_down();
    });
    done.wait();
  }
  late.cancel();
}

// The promise in full: what cancel() returned is exactly what the handlers see.
TEST_P(timer_threads_test, the_number_that_cancel_returns_is_the_number_of_aborted_waits) {
  start();
  for (int round = 0; round != 500; ++round) {
    constexpr std::size_t waits = 3;
    weft::steady_timer timer(context, std::chrono::microseconds(round % 50));
    std::atomic<std::size_t> cancelled{0};
    std::atomic<std::size_t> aborted{0};
    std::latch done(waits);
    for (std::size_t i = 0; i != waits; ++i)
      timer.async_wait([&](weft::error_code ec) {
        if (ec)
          ++aborted;
        done.count_down();
      });
    {
      std::jthread other([&] { cancelled += timer.cancel_one(); });
      cancelled += timer.cancel();
    }
    done.wait();
    EXPECT_EQ(cancelled.load(), aborted.load());
  }
}

struct cancellable {
  using cancellation_slot_type = weft::cancellation_slot;
  cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
  void operator()(weft::error_code) const { done->count_down(); }
  weft::cancellation_slot slot;
  std::latch* done;
};

TEST_P(timer_threads_test, a_signal_may_be_emitted_while_the_wait_starts_and_ends) {
  start();
  for (int round = 0; round != 500; ++round) {
    weft::steady_timer timer(context, std::chrono::microseconds(round % 20));
    weft::cancellation_signal signal;
    std::latch done(1);
    {
      std::jthread emitter([&] {
        for (int i = 0; i != 20; ++i)
          signal.emit(weft::cancellation_type::total);
      });
      timer.async_wait(cancellable{signal.slot(), &done});
    }
    done.wait();
  }
}

TEST_P(timer_threads_test, timers_of_one_context_may_be_used_on_any_threads) {
  start();
  std::atomic<int> completed{0};
  constexpr int threads = 3, rounds = 300;
  {
    std::vector<std::jthread> users;
    for (int t = 0; t != threads; ++t)
      users.emplace_back([&, t] {
        for (int round = 0; round != rounds; ++round) {
          auto timer = std::make_shared<weft::steady_timer>(
              context, std::chrono::microseconds((round * 7 + t) % 30));
          timer->async_wait([&completed, timer](weft::error_code) { ++completed; });
          if (round % 3 == 0)
            timer->cancel();
        }
      });
  }
  finish();
  EXPECT_EQ(completed, threads * rounds);
}

TEST_P(timer_threads_test, a_queued_wait_may_be_destroyed_beside_a_cancel) {
  for (int round = 0; round != 100; ++round) {
    auto other = std::make_unique<weft::io_context>();
    const auto alive = std::make_shared<int>(0);
    weft::steady_timer timer(context, weft::steady_timer::time_point::min());
    timer.async_wait(weft::bind_executor(other->get_executor(),
                                         [alive](weft::error_code) { ADD_FAILURE() << "called"; }));
    context.poll();
    std::atomic<bool> begun{false};
    std::size_t cancelled = 0;
    std::jthread canceller([&] {
      begun.store(true, std::memory_order_relaxed);
      cancelled = timer.cancel();
    });
    while (!begun.load(std::memory_order_relaxed))
      std::this_thread::yield();
    other.reset();
    canceller.join();
    EXPECT_EQ(alive.use_count(), 1);
    EXPECT_LE(cancelled, 1u);
    EXPECT_EQ(timer.cancel(), 0u);
  }
}

WEFT_INSTANTIATE_BACKENDS(timer_threads_test);

}  // namespace
