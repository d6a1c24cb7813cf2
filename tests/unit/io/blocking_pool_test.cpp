// SPDX-License-Identifier: BSL-1.0
#include "io/backend/blocking_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

#include <weft/base/clock.hpp>

#include "context/scheduler/driver.hpp"
#include "support/child.hpp"
#include "support/sanitizer.hpp"

namespace {

using weft::detail::blocking_pool;
using weft::detail::io_kind;
using weft::detail::io_operation;
using weft::detail::io_queue;
using weft::detail::io_status;
using weft::detail::operation_queue;

struct job;
io_status perform_job(io_operation& op) noexcept;
constexpr io_kind job_kind{&perform_job, nullptr, nullptr, true};

weft::detail::scheduler& no_scheduler() {
  static std::max_align_t storage;
  return reinterpret_cast<weft::detail::scheduler&>(storage);
}

struct job : io_operation {
  explicit job(std::function<void()> f)
      : io_operation(&end, no_scheduler(), job_kind, io_queue::concurrent), work(std::move(f)) {}
  static void end(operation* op, action) { static_cast<job*>(op)->destroyed = true; }

  std::function<void()> work;
  bool destroyed = false;
};

io_status perform_job(io_operation& op) noexcept {
  static_cast<job&>(op).work();
  return io_status::done;
}

/// A pool, and what it has done. Its poller sees to nothing: it is woken for every result.
struct listener {
  explicit listener(unsigned threads = blocking_pool::default_threads,
                    std::chrono::milliseconds idle_time = blocking_pool::default_idle_time)
      : pool(&listener::wake, this, threads, idle_time) {}
  static void wake(void* self) noexcept { ++static_cast<listener*>(self)->wakes; }

  /// Until so many more operations have been performed.
  void wait(std::size_t n) {
    for (const std::size_t all = finished.size() + n; finished.size() < all;)
      take(pool.await(more));
  }
  void take(operation_queue results) {
    while (weft::detail::operation* const op = results.pop())
      finished.push_back(static_cast<io_operation*>(op));
  }

  std::atomic<int> wakes{0};
  std::atomic<unsigned> more{1};  // whoever waits does so for results
  std::vector<io_operation*> finished;
  blocking_pool pool;
};

/// While it lives no thread can be started: each would have an enormous stack.
class no_new_threads {
 public:
  no_new_threads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t enormous;
    pthread_attr_init(&enormous);
    pthread_attr_setstacksize(&enormous, std::size_t{1} << 47);
    EXPECT_EQ(pthread_setattr_default_np(&enormous), 0);
    pthread_attr_destroy(&enormous);
  }
  ~no_new_threads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

 private:
  pthread_attr_t before_;
};

TEST(blocking_pool, no_thread_lives_before_the_first_operation) {
  listener l;
  EXPECT_EQ(l.pool.threads(), 0u);
}

TEST(blocking_pool, an_operation_is_performed_on_another_thread_and_then_reported) {
  listener l;
  std::thread::id ran;
  job j([&] { ran = std::this_thread::get_id(); });
  l.pool.submit(&j);
  l.wait(1);
  EXPECT_NE(ran, std::thread::id());
  EXPECT_NE(ran, std::this_thread::get_id());
  EXPECT_EQ(l.finished, std::vector<io_operation*>{&j});
}

TEST(blocking_pool, operations_that_wait_for_each_other_run_side_by_side) {
  listener l(2);
  std::binary_semaphore a{0}, b{0};
  job first([&] {
    a.release();
    b.acquire();
  });
  job second([&] {
    b.release();
    a.acquire();
  });
  l.pool.submit(&first);
  l.pool.submit(&second);
  l.wait(2);
}

TEST(blocking_pool, operations_that_find_a_helper_looking_run_side_by_side_too) {
  listener l(2);
  for (int i = 0; i != 1000; ++i) {
    std::binary_semaphore a{0}, b{0};
    job before([] {});
    job first([&] {
      a.release();
      b.acquire();
    });
    job second([&] {
      b.release();
      a.acquire();
    });
    l.pool.submit(&before);
    l.wait(1);
    l.pool.submit(&first);
    l.pool.submit(&second);
    l.wait(2);
  }
}

TEST(blocking_pool, no_more_threads_are_started_than_allowed) {
  listener l(3);
  std::counting_semaphore<> go{0};
  std::atomic<int> inside{0}, most{0};
  std::vector<std::unique_ptr<job>> jobs;
  for (int i = 0; i < 30; ++i) {
    jobs.push_back(std::make_unique<job>([&] {
      const int n = ++inside;
      for (int m = most; m < n && !most.compare_exchange_weak(m, n);) {}
      go.acquire();
      --inside;
    }));
    l.pool.submit(jobs.back().get());
  }
  EXPECT_LE(l.pool.threads(), 3u);
  go.release(30);
  l.wait(30);
  EXPECT_LE(most, 3);
}

TEST(blocking_pool, one_thread_performs_in_the_order_of_submission) {
  listener l(1);
  std::vector<int> order;
  std::vector<std::unique_ptr<job>> jobs;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(std::make_unique<job>([&order, i] { order.push_back(i); }));
    l.pool.submit(jobs.back().get());
  }
  l.wait(100);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(blocking_pool, cancel_takes_back_what_has_not_begun_and_only_that) {
  listener l(1);
  std::binary_semaphore begun{0}, go{0};
  job first([&] {
    begun.release();
    go.acquire();
  });
  bool ran = false;
  job second([&] { ran = true; });
  job third([] {});
  l.pool.submit(&first);
  begun.acquire();
  l.pool.submit(&second);
  l.pool.submit(&third);
  EXPECT_FALSE(l.pool.cancel(&first));
  EXPECT_TRUE(l.pool.cancel(&second));
  EXPECT_FALSE(l.pool.cancel(&second));
  go.release();
  l.wait(2);
  EXPECT_FALSE(ran);
  EXPECT_EQ(l.finished, (std::vector<io_operation*>{&first, &third}));
}

TEST(blocking_pool, shutdown_waits_for_what_has_begun_and_returns_the_rest) {
  listener l(1);
  std::binary_semaphore begun{0}, go{0};
  std::atomic<bool> ended = false;
  job first([&] {
    begun.release();
    go.acquire();
    ended = true;
  });
  job second([] {});
  l.pool.submit(&first);
  begun.acquire();
  l.pool.submit(&second);
  std::thread releaser([&] { go.release(); });
  operation_queue left = l.pool.shutdown();
  releaser.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(l.pool.threads(), 0u);
  // The helper may have been faster than the shutdown; what it did not begin is here.
  l.take(l.pool.await(l.more));
  ASSERT_FALSE(l.finished.empty());
  EXPECT_EQ(l.finished[0], &first);
  EXPECT_EQ(left.pop(), l.finished.size() == 1 ? &second : nullptr);
}

TEST(blocking_pool, a_pool_that_was_shut_down_can_be_used_anew) {
  listener l;
  job j([] {});
  l.pool.submit(&j);
  l.wait(1);
  EXPECT_TRUE(l.pool.shutdown().empty());
  l.pool.submit(&j);
  l.wait(1);
}

TEST(blocking_pool, destruction_destroys_what_nobody_has_taken) {
  std::binary_semaphore begun{0}, go{0};
  job first([&] {
    begun.release();
    go.acquire();
  });
  job second([] {});
  std::thread releaser;
  {
    listener l(1);
    l.pool.submit(&first);
    begun.acquire();
    l.pool.submit(&second);
    releaser = std::thread([&] { go.release(); });
  }
  releaser.join();
  EXPECT_TRUE(first.destroyed);
  EXPECT_TRUE(second.destroyed);
}

TEST(blocking_pool, idle_threads_end_and_new_ones_start) {
  listener l(4, std::chrono::milliseconds(0));
  for (int round = 0; round < 50; ++round) {
    job j([] {});
    l.pool.submit(&j);
    l.wait(1);
    while (l.pool.threads() != 0)
      std::this_thread::yield();
  }
  EXPECT_EQ(l.finished.size(), 50u);
}

TEST(blocking_pool, helpers_leave_signals_to_the_program) {
  listener l;
  sigset_t mask;
  job j([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  l.pool.submit(&j);
  l.wait(1);
  EXPECT_EQ(sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(sigismember(&mask, SIGCHLD), 1);
}

TEST(blocking_pool, what_is_submitted_for_each_result_keeps_the_pool_going) {
  listener l(2);
  job j([] {});
  for (int i = 0; i != 1000; ++i) {
    l.pool.submit(&j);
    l.wait(1);
  }
  EXPECT_FALSE(l.pool.pending());
}

TEST(blocking_pool, a_poller_that_does_not_know_of_the_operations_is_woken_for_each) {
  listener l(1);
  std::vector<std::unique_ptr<job>> jobs;
  for (int i = 0; i != 10; ++i) {
    jobs.push_back(std::make_unique<job>([] {}));
    l.pool.submit(jobs.back().get());
  }
  l.wait(10);
  l.pool.shutdown();
  EXPECT_EQ(l.wakes, 10);
}

TEST(blocking_pool, a_poller_that_sees_to_the_operations_is_woken_once_a_sleep) {
  listener l(1);
  std::binary_semaphore go{0};
  job first([&] { go.acquire(); });
  l.pool.submit(&first, true);
  std::vector<std::unique_ptr<job>> jobs;
  for (int i = 0; i != 10; ++i) {
    jobs.push_back(std::make_unique<job>([] {}));
    l.pool.submit(jobs.back().get(), true);
  }
  EXPECT_NE(l.pool.before_sleep(), 0);
  go.release();
  while (l.wakes == 0)
    std::this_thread::yield();
  while (l.finished.size() != 11) {
    operation_queue results;
    l.pool.after_sleep(results);
    l.take(std::move(results));
    std::this_thread::yield();
  }
  EXPECT_EQ(l.wakes, 1);
  EXPECT_FALSE(l.pool.pending());
}

TEST(blocking_pool, a_poller_that_would_miss_a_result_is_not_to_sleep) {
  listener l(1);
  job j([] {});
  l.pool.submit(&j, true);
  if (l.pool.before_sleep() != 0)
    while (l.wakes == 0)
      std::this_thread::yield();
  EXPECT_EQ(l.pool.before_sleep(), 0);
  l.wait(1);
}

TEST(blocking_pool, operations_that_are_late_hold_up_no_other) {
  const unsigned blocked = std::clamp(std::thread::hardware_concurrency(), 1U, 60U);
  listener l(blocked + 1);
  std::counting_semaphore<> go{0};
  std::vector<std::unique_ptr<job>> jobs;
  for (unsigned i = 0; i != blocked; ++i)
    jobs.push_back(std::make_unique<job>([&] { go.acquire(); }));
  jobs.push_back(std::make_unique<job>([&] { go.release(blocked); }));
  for (const auto& j : jobs)
    l.pool.submit(j.get(), true);
  while (l.finished.size() != jobs.size()) {
    EXPECT_GE(l.pool.before_sleep(), 0);
    std::this_thread::yield();
    operation_queue results;
    l.pool.after_sleep(results);
    l.take(std::move(results));
  }
}

TEST(blocking_pool, a_poller_that_slept_before_the_first_operation_is_woken_for_it) {
  listener l(1);
  EXPECT_EQ(l.pool.before_sleep(), weft::detail::driver::forever);
  job j([] {});
  l.pool.submit(&j, true);  // by one that took itself for the only thread
  l.wait(1);
  l.pool.shutdown();
  EXPECT_EQ(l.wakes, 1);
}

TEST(blocking_pool, a_poller_that_falls_asleep_beside_submissions_misses_no_result) {
  constexpr int count = 20'000;
  std::counting_semaphore<> wakes{0};
  const auto wake = [](void* self) noexcept {
    static_cast<std::counting_semaphore<>*>(self)->release();
  };
  blocking_pool pool(wake, &wakes, 2);
  std::atomic<int> taken{0};
  std::thread submitter([&] {
    job j([] {});
    for (int i = 0; i != count; ++i) {
      pool.submit(&j, true);
      taken.wait(i);
    }
  });
  while (taken != count) {
    const std::int64_t limit = pool.before_sleep();
    if (limit == weft::detail::driver::forever)
      wakes.acquire();
    else if (limit != 0)
      static_cast<void>(wakes.try_acquire_for(std::chrono::nanoseconds(limit)));
    operation_queue results;
    pool.after_sleep(results);
    while (results.pop()) {
      ++taken;
      taken.notify_one();
    }
  }
  submitter.join();
}

TEST(blocking_pool, a_poller_that_sleeps_without_limit_holds_up_nothing) {
  const unsigned blocked = std::clamp(std::thread::hardware_concurrency(), 1U, 60U);
  listener l(blocked + 2);
  const auto look = [&] {
    operation_queue results;
    l.pool.after_sleep(results);
    l.take(std::move(results));
    return l.pool.before_sleep();
  };
  std::binary_semaphore end{0};
  std::counting_semaphore<> go{0};
  job late([&] { end.acquire(); });
  l.pool.submit(&late);
  while (look() != weft::detail::driver::forever)
    std::this_thread::yield();
  for (std::size_t i = 0; i != blocking_pool::slow_memory; ++i) {
    job quick([] {});
    l.pool.submit(&quick);
    while (l.finished.size() != i + 1)
      look();
  }
  while (look() != weft::detail::driver::forever)
    std::this_thread::yield();
  // Others submit while it sleeps.
  const int before = l.wakes;
  std::vector<std::unique_ptr<job>> jobs;
  for (unsigned i = 0; i != blocked; ++i)
    jobs.push_back(std::make_unique<job>([&] { go.acquire(); }));
  jobs.push_back(std::make_unique<job>([&] { go.release(blocked); }));
  for (const auto& j : jobs)
    l.pool.submit(j.get());
  l.wait(jobs.size());
  while (l.wakes == before)
    std::this_thread::yield();
  end.release();
  l.wait(1);
}

TEST(blocking_pool, a_helper_that_could_not_be_started_is_tried_again) {
  const unsigned blocked = std::clamp(std::thread::hardware_concurrency(), 1U, 60U);
  listener l(blocked + 1);
  std::counting_semaphore<> begun{0}, go{0};
  std::vector<std::unique_ptr<job>> jobs;
  for (unsigned i = 0; i != blocked; ++i) {
    jobs.push_back(std::make_unique<job>([&] {
      begun.release();
      go.acquire();
    }));
    l.pool.submit(jobs.back().get(), true);
    begun.acquire();
  }
  job last([&] { go.release(blocked); });
  l.pool.submit(&last, true);
  const auto look = [&] {
    operation_queue results;
    l.pool.after_sleep(results);
    l.take(std::move(results));
    return l.pool.before_sleep();
  };
  {
    const no_new_threads none;
    const std::int64_t start = weft::detail::steady_now();
    while (weft::detail::steady_now() - start < 3 * blocking_pool::late)
      EXPECT_NE(look(), weft::detail::driver::forever);
  }
  EXPECT_TRUE(l.finished.empty());
  while (l.finished.empty())
    look();
  l.wait(blocked + 1 - l.finished.size());
}

TEST(blocking_pool, one_that_awaits_results_hears_that_another_took_them) {
  listener l;
  for (int i = 0; i != 100; ++i) {
    l.more = 1;
    std::binary_semaphore awaits{0};
    std::thread closer([&] {
      awaits.release();
      EXPECT_TRUE(l.pool.await(l.more).empty());
    });
    awaits.acquire();
    std::this_thread::yield();
    l.more = 0;
    l.pool.end_await();
    closer.join();
  }
}

#if !WEFT_TEST_TSAN
TEST(blocking_pool, a_forked_child_begins_again_what_the_parent_had_begun) {
  listener l(1);
  const pid_t parent = getpid();
  std::binary_semaphore begun{0}, go{0};
  job first([&] {
    if (getpid() == parent) {
      begun.release();
      go.acquire();
    }
  });
  job second([] {});
  l.pool.submit(&first);
  begun.acquire();
  l.pool.submit(&second);

  l.pool.fork_prepare();
  const pid_t child = weft_test::start_child([&] {
    l.pool.fork_child();
    const bool rested = l.pool.threads() == 0;
    l.pool.begin_again();
    l.wait(2);
    const bool in_order = rested && l.finished == std::vector<io_operation*>{&second, &first};
    l.pool.shutdown();
    return in_order;
  });
  l.pool.fork_parent();
  EXPECT_TRUE(weft_test::has_succeeded(child));
  go.release();
  l.wait(2);
}
#endif

}  // namespace
