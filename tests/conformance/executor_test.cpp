// SPDX-License-Identifier: BSL-1.0
// Promises P4, P6, P7 and P8 through executors: timers waited for through a strand, an executor of
// the user's or a pool; strands over weft's own contexts, with several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <weft/async/bind_executor.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/base/error.hpp>
#include <weft/context/post.hpp>
#include <weft/context/strand.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/execution/executor_work_guard.hpp>

#include "support/backend.hpp"
#include "support/cancellable.hpp"
#include "support/locking_executor.hpp"
#include "support/manual_clock.hpp"

namespace {

using namespace std::chrono_literals;
using weft::error_code;
using weft_test::manual_clock;
using weft_test::manual_timer;

const error_code success;
const error_code aborted = weft::error::operation_aborted;

class timer_through : public weft_test::backend_test {
 protected:
  timer_through() { manual_clock::set(0s); }

  auto note() {
    return [this](error_code ec) { results.push_back(ec); };
  }

  using errors = std::vector<error_code>;
  errors results;
};

/// Keeps an executor that runs one function at a time busy, until `release`.
class occupation {
 public:
  template <class Executor>
  explicit occupation(const Executor& executor) {
    weft::post(executor, [this] {
      begun_.count_down();
      released_.wait();
    });
    begun_.wait();
  }
  ~occupation() { release(); }
  void release() {
    if (!std::exchange(is_released_, true))
      released_.count_down();
  }

 private:
  std::latch begun_{1}, released_{1};
  bool is_released_ = false;
};

TEST_P(timer_through, a_strand_is_overtaken_by_a_cancel_of_a_function_before_it) {
  auto strand = weft::make_strand(context);
  manual_timer timer(context, 1ns);
  std::size_t cancelled = 0;
  timer.async_wait(weft::bind_executor(strand, note()));
  timer.async_wait(weft::bind_executor(strand, note()));
  weft::post(strand, [&] {
    // Lets the expiry be queued with the strand, which this function holds.
    manual_clock::advance(1ns);
    weft::io_context* c = &context;
    std::thread([c] {
      c->poll();
      c->poll();
    }).join();
    EXPECT_TRUE(results.empty());
    cancelled = timer.cancel();
  });
  context.run();
  EXPECT_EQ(cancelled, 2u);
  EXPECT_EQ(results, (errors{aborted, aborted}));
}

TEST_P(timer_through, a_pool_is_overtaken_by_cancel_expires_at_and_the_destructor) {
  for (int way = 0; way != 4; ++way) {
    results.clear();
    manual_clock::set(0s);
    weft::thread_pool pool(1);
    std::optional<manual_timer> timer(std::in_place, context, 1ns);
    occupation busy(pool.get_executor());
    timer->async_wait(weft::bind_executor(pool, note()));
    timer->async_wait(weft::bind_executor(pool, note()));
    manual_clock::advance(1ns);
    context.restart();
    context.run();  // both expiries are queued with the pool
    EXPECT_TRUE(results.empty());
    switch (way) {
      case 0: EXPECT_EQ(timer->cancel(), 2u); break;
      case 1: EXPECT_EQ(timer->expires_after(1h), 2u); break;
      case 2: EXPECT_EQ(timer->expires_at(manual_clock::now()), 2u); break;
      case 3: timer.reset(); break;
    }
    busy.release();
    pool.join();
    EXPECT_EQ(results, (errors{aborted, aborted})) << way;
  }
}

TEST_P(timer_through, a_pool_with_cancel_one_takes_the_first_and_leaves_the_second_its_expiry) {
  weft::thread_pool pool(1);
  manual_timer timer(context, 1ns);
  occupation busy(pool.get_executor());
  timer.async_wait(weft::bind_executor(pool, note()));
  timer.async_wait(weft::bind_executor(pool, note()));
  manual_clock::advance(1ns);
  context.run();
  EXPECT_EQ(timer.cancel_one(), 1u);
  busy.release();
  pool.join();
  EXPECT_EQ(results, (errors{aborted, success}));
}

TEST_P(timer_through, a_pool_is_overtaken_by_the_slot_of_the_wait) {
  weft::thread_pool pool(1);
  manual_timer timer(context, 1ns);
  occupation busy(pool.get_executor());
  weft::cancellation_signal signal;
  timer.async_wait(weft::bind_executor(pool, weft_test::cancellable(signal, note())));
  timer.async_wait(weft::bind_executor(pool, note()));
  manual_clock::advance(1ns);
  context.run();
  signal.emit(weft::cancellation_type::terminal);
  busy.release();
  pool.join();
  EXPECT_EQ(results, (errors{aborted, success}));
}

TEST_P(timer_through, a_lock_of_the_users_is_overtaken_by_whoever_holds_the_lock) {
  std::recursive_mutex mutex;
  const weft_test::locking_executor executor(context, mutex);
  manual_timer timer(context, 1ns);
  timer.async_wait(weft::bind_executor(executor, note()));
  timer.async_wait(weft::bind_executor(executor, note()));
  std::thread runner;
  {
    const std::lock_guard lock(mutex);
    manual_clock::advance(1ns);
    runner = std::thread([&] { context.run(); });
    // The handlers wait for the lock, or are about to: whichever, none has been claimed.
    EXPECT_EQ(timer.cancel(), 2u);
  }
  runner.join();
  EXPECT_EQ(results, (errors{aborted, aborted}));
}

TEST_P(timer_through, a_strand_over_a_pool_is_overtaken_while_its_threads_run) {
  weft::thread_pool pool(3);
  auto strand = weft::make_strand(pool);
  auto guard = weft::make_work_guard(context);
  std::thread runner([&] { context.run(); });
  for (int round = 0; round != 100; ++round) {
    std::latch over(1);
    weft::post(strand, [&] {
      auto timer = std::make_shared<manual_timer>(context, manual_clock::now());
      auto overtaken = std::make_shared<bool>(false);
      // The expiry races with this function, which holds the strand: the handler comes after it.
      timer->async_wait(weft::bind_executor(strand, [&, timer, overtaken](error_code ec) {
        EXPECT_TRUE(*overtaken);
        EXPECT_EQ(ec, aborted);
        over.count_down();
      }));
      for (int i = 0; i != round % 7; ++i)
        std::this_thread::yield();
      EXPECT_EQ(timer->cancel(), 1u);
      *overtaken = true;
    });
    over.wait();
  }
  guard.reset();
  runner.join();
}

WEFT_INSTANTIATE_BACKENDS(timer_through);

/// A strand, and what its functions touch unguarded otherwise.
template <class Context>
struct guarded {
  explicit guarded(Context& c, std::size_t posters)
      : strand(weft::make_strand(c)), last(posters, -1) {}

  /// The `i`-th function of a poster. Returns the number of faults.
  int step(std::size_t poster, int i) {
    int faults = busy.exchange(true) + !strand.running_in_this_thread() + (last[poster] != i - 1);
    last[poster] = i;
    ++count;
    return faults + !busy.exchange(false);
  }

  weft::strand<typename Context::executor_type> strand;
  std::atomic<bool> busy{false};
  int count = 0;
  std::vector<int> last;
};

/// Posts from several threads to several strands; every function checks that it is alone, and in
/// the order of its thread's posts. `finish` waits until all have run.
template <class Context, class Finish>
void crowd(Context& context, Finish finish) {
  constexpr int strands = 3, posters = 3, posts = 500;
  std::vector<std::unique_ptr<guarded<Context>>> all;
  for (int s = 0; s != strands; ++s)
    all.push_back(std::make_unique<guarded<Context>>(context, std::size_t{posters}));
  std::atomic<int> faults{0};
  std::vector<std::thread> threads;
  for (std::size_t p = 0; p != posters; ++p)
    threads.emplace_back([&all, &faults, p] {
      for (int i = 0; i != posts; ++i) {
        for (const auto& owner : all) {
          guarded<Context>* g = owner.get();
          weft::post(g->strand, [&faults, g, p, i] { faults += g->step(p, i); });
        }
      }
    });
  for (std::thread& t : threads)
    t.join();
  finish();
  EXPECT_EQ(faults, 0);
  for (const auto& g : all)
    EXPECT_EQ(g->count, posters * posts);
}

/// Strands over an io_context that several threads run.
class strand_over : public weft_test::backend_test {
 protected:
  std::vector<std::thread> run_on_threads() {
    std::vector<std::thread> threads;
    for (int i = 0; i != 4; ++i)
      threads.emplace_back([this] { context.run(); });
    return threads;
  }
};

TEST_P(strand_over, several_threads_runs_one_function_at_a_time_in_order) {
  auto guard = weft::make_work_guard(context);
  auto threads = run_on_threads();
  crowd(context, [&] {
    guard.reset();
    for (std::thread& t : threads)
      t.join();
  });
}

TEST(strand_over_pool, several_threads_runs_one_function_at_a_time_in_order) {
  weft::thread_pool pool(4);
  crowd(pool, [&] { pool.join(); });
}

TEST_P(strand_over, several_threads_goes_on_with_the_rest_after_an_exception) {
  auto strand = weft::make_strand(context);
  std::vector<int> ran;  // the strand guards it
  for (int i = 0; i != 100; ++i)
    weft::post(strand, [&ran, i] {
      ran.push_back(i);
      if (i % 10 == 3)
        throw std::runtime_error("function");
    });
  std::atomic<int> exceptions{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t)
    threads.emplace_back([&] {
      for (;;) {
        try {
          context.run();
          return;
        } catch (const std::runtime_error&) {
          ++exceptions;
        }
      }
    });
  for (std::thread& t : threads)
    t.join();
  EXPECT_EQ(exceptions, 10);
  ASSERT_EQ(ran.size(), 100u);
  for (int i = 0; i != 100; ++i)
    EXPECT_EQ(ran[static_cast<std::size_t>(i)], i);
}

TEST_P(strand_over, a_context_that_ends_destroys_what_waits_uncalled_and_may_be_outlived) {
  for (const bool begun : {false, true}) {
    std::optional<weft::io_context> own(std::in_place, weft_test::make_context_options(GetParam()));
    auto owned = std::make_shared<int>(0);
    int ran = 0;
    auto strand = weft::make_strand(*own);
    for (int i = 0; i != 5; ++i)
      weft::post(strand, [&ran, owned, strand] {
        ++ran;
        weft::post(strand, [&ran, owned, strand] { ++ran; });
      });
    if (begun)
      own->run_one();
    const int before = ran;
    own.reset();
    EXPECT_EQ(ran, before);
    EXPECT_EQ(owned.use_count(), 1);
    auto copy = strand;
    EXPECT_EQ(copy, strand);
  }
}

TEST(strand_over_pool, a_pool_that_is_stopped_and_ends_destroys_what_waits_uncalled) {
  auto owned = std::make_shared<int>(0);
  std::atomic<int> ran{0};
  {
    std::latch begun(1), stopped(1);  // outlive the pool's threads
    weft::thread_pool pool(2);
    auto strand = weft::make_strand(pool);
    weft::post(strand, [&] {
      begun.count_down();
      stopped.wait();
    });
    begun.wait();
    for (int i = 0; i != 100; ++i)
      weft::post(strand, [&ran, owned, strand] { ++ran; });
    pool.stop();
    stopped.count_down();
  }
  EXPECT_EQ(owned.use_count(), 1);
  EXPECT_LE(ran, 100);
}

TEST_P(strand_over, several_threads_lets_others_run_while_its_function_blocks) {
  auto first = weft::make_strand(context), second = weft::make_strand(context);
  std::latch release(1);
  bool freed = false;
  weft::post(first, [&] { release.wait(); });
  weft::post(second, [&] {
    freed = true;
    release.count_down();
  });
  for (std::thread& t : run_on_threads())
    t.join();
  EXPECT_TRUE(freed);
}

WEFT_INSTANTIATE_BACKENDS(strand_over);

}  // namespace
