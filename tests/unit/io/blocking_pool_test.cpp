// SPDX-License-Identifier: BSL-1.0
#include "io/backend/blocking_pool.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <vector>

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

/// Hears of what the pool has done.
struct listener {
  static void done(void* self, io_operation* op) noexcept {
    auto& l = *static_cast<listener*>(self);
    {
      const std::lock_guard lock(l.mutex);
      l.finished.push_back(op);
    }
    l.count.release();
  }
  void wait(int n) {
    while (n-- > 0)
      count.acquire();
  }

  std::mutex mutex;
  std::vector<io_operation*> finished;
  std::counting_semaphore<> count{0};
};

TEST(blocking_pool, no_thread_lives_before_the_first_operation) {
  listener l;
  blocking_pool pool(&listener::done, &l);
  EXPECT_EQ(pool.threads(), 0u);
}

TEST(blocking_pool, an_operation_is_performed_on_another_thread_and_then_reported) {
  listener l;
  blocking_pool pool(&listener::done, &l);
  std::thread::id ran;
  job j([&] { ran = std::this_thread::get_id(); });
  pool.submit(&j);
  l.wait(1);
  EXPECT_NE(ran, std::thread::id());
  EXPECT_NE(ran, std::this_thread::get_id());
  EXPECT_EQ(l.finished, std::vector<io_operation*>{&j});
}

TEST(blocking_pool, operations_that_wait_for_each_other_run_side_by_side) {
  listener l;
  blocking_pool pool(&listener::done, &l, 2);
  std::binary_semaphore a{0}, b{0};
  job first([&] {
    a.release();
    b.acquire();
  });
  job second([&] {
    b.release();
    a.acquire();
  });
  pool.submit(&first);
  pool.submit(&second);
  l.wait(2);
}

TEST(blocking_pool, operations_that_find_a_helper_looking_run_side_by_side_too) {
  listener l;
  blocking_pool pool(&listener::done, &l, 2);
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
    pool.submit(&before);
    l.wait(1);
    pool.submit(&first);
    pool.submit(&second);
    l.wait(2);
  }
}

TEST(blocking_pool, no_more_threads_are_started_than_allowed) {
  listener l;
  blocking_pool pool(&listener::done, &l, 3);
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
    pool.submit(jobs.back().get());
  }
  EXPECT_LE(pool.threads(), 3u);
  go.release(30);
  l.wait(30);
  EXPECT_LE(most, 3);
}

TEST(blocking_pool, one_thread_performs_in_the_order_of_submission) {
  listener l;
  blocking_pool pool(&listener::done, &l, 1);
  std::vector<int> order;
  std::vector<std::unique_ptr<job>> jobs;
  for (int i = 0; i < 100; ++i) {
    jobs.push_back(std::make_unique<job>([&order, i] { order.push_back(i); }));
    pool.submit(jobs.back().get());
  }
  l.wait(100);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(blocking_pool, cancel_takes_back_what_has_not_begun_and_only_that) {
  listener l;
  blocking_pool pool(&listener::done, &l, 1);
  std::binary_semaphore begun{0}, go{0};
  job first([&] {
    begun.release();
    go.acquire();
  });
  bool ran = false;
  job second([&] { ran = true; });
  job third([] {});
  pool.submit(&first);
  begun.acquire();
  pool.submit(&second);
  pool.submit(&third);
  EXPECT_FALSE(pool.cancel(&first));
  EXPECT_TRUE(pool.cancel(&second));
  EXPECT_FALSE(pool.cancel(&second));
  go.release();
  l.wait(2);
  EXPECT_FALSE(ran);
  EXPECT_EQ(l.finished, (std::vector<io_operation*>{&first, &third}));
}

TEST(blocking_pool, shutdown_waits_for_what_has_begun_and_returns_the_rest) {
  listener l;
  blocking_pool pool(&listener::done, &l, 1);
  std::binary_semaphore begun{0}, go{0};
  std::atomic<bool> ended = false;
  job first([&] {
    begun.release();
    go.acquire();
    ended = true;
  });
  job second([] {});
  pool.submit(&first);
  begun.acquire();
  pool.submit(&second);
  std::thread releaser([&] { go.release(); });
  operation_queue left = pool.shutdown();
  releaser.join();
  EXPECT_TRUE(ended);
  EXPECT_EQ(pool.threads(), 0u);
  // The helper may have been faster than the shutdown; what it did not begin is here.
  ASSERT_FALSE(l.finished.empty());
  EXPECT_EQ(l.finished[0], &first);
  EXPECT_EQ(left.pop(), l.finished.size() == 1 ? &second : nullptr);
}

TEST(blocking_pool, what_done_submits_during_shutdown_is_returned) {
  struct resubmitter {
    static void done(void* self, io_operation* op) noexcept {
      static_cast<resubmitter*>(self)->pool->submit(op);
    }
    blocking_pool* pool = nullptr;
  } r;
  blocking_pool pool(&resubmitter::done, &r);
  r.pool = &pool;
  std::counting_semaphore<> begun{0};
  job j([&] { begun.release(); });
  pool.submit(&j);
  begun.acquire();
  operation_queue left = pool.shutdown();
  EXPECT_EQ(left.pop(), &j);
  EXPECT_TRUE(left.empty());
}

TEST(blocking_pool, a_pool_that_was_shut_down_can_be_used_anew) {
  listener l;
  blocking_pool pool(&listener::done, &l);
  job j([] {});
  pool.submit(&j);
  l.wait(1);
  EXPECT_TRUE(pool.shutdown().empty());
  pool.submit(&j);
  l.wait(1);
}

TEST(blocking_pool, destruction_destroys_what_has_not_begun) {
  listener l;
  std::binary_semaphore begun{0}, go{0};
  job first([&] {
    begun.release();
    go.acquire();
  });
  job second([] {});
  std::thread releaser;
  {
    blocking_pool pool(&listener::done, &l, 1);
    pool.submit(&first);
    begun.acquire();
    pool.submit(&second);
    releaser = std::thread([&] { go.release(); });
  }
  releaser.join();
  EXPECT_FALSE(first.destroyed);
  // Either the helper was faster than the destructor, or the operation was destroyed.
  EXPECT_NE(second.destroyed, l.finished.size() == 2);
}

TEST(blocking_pool, idle_threads_end_and_new_ones_start) {
  listener l;
  blocking_pool pool(&listener::done, &l, 4, std::chrono::milliseconds(0));
  for (int round = 0; round < 50; ++round) {
    job j([] {});
    pool.submit(&j);
    l.wait(1);
    while (pool.threads() != 0)
      std::this_thread::yield();
  }
  EXPECT_EQ(l.finished.size(), 50u);
}

TEST(blocking_pool, helpers_leave_signals_to_the_program) {
  listener l;
  blocking_pool pool(&listener::done, &l);
  sigset_t mask;
  job j([&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); });
  pool.submit(&j);
  l.wait(1);
  EXPECT_EQ(sigismember(&mask, SIGINT), 1);
  EXPECT_EQ(sigismember(&mask, SIGCHLD), 1);
}

TEST(blocking_pool, a_done_that_submits_keeps_the_pool_going) {
  struct chain {
    static void done(void* self, io_operation* op) noexcept {
      auto& c = *static_cast<chain*>(self);
      if (--c.left != 0)
        c.pool->submit(op);
      else
        c.finished.release();
    }
    blocking_pool* pool = nullptr;
    int left = 1000;
    std::binary_semaphore finished{0};
  } c;
  blocking_pool pool(&chain::done, &c, 2);
  c.pool = &pool;
  job j([] {});
  pool.submit(&j);
  c.finished.acquire();
}

#if !WEFT_TEST_TSAN
TEST(blocking_pool, a_forked_child_begins_again_what_the_parent_had_begun) {
  listener l;
  blocking_pool pool(&listener::done, &l, 1);
  const pid_t parent = getpid();
  std::binary_semaphore begun{0}, go{0};
  job first([&] {
    if (getpid() == parent) {
      begun.release();
      go.acquire();
    }
  });
  job second([] {});
  pool.submit(&first);
  begun.acquire();
  pool.submit(&second);

  pool.fork_prepare();
  const pid_t child = fork();
  if (child == 0) {
    pool.fork_child();
    l.wait(2);
    const bool in_order = l.finished == std::vector<io_operation*>{&second, &first};
    pool.shutdown();
    _exit(in_order ? 0 : 1);
  }
  pool.fork_parent();
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  go.release();
  l.wait(2);
}
#endif

}  // namespace
