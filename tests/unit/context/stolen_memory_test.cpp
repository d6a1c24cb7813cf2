// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include <weft/base/operation.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/context/io_context.hpp>
#include <weft/context/post.hpp>
#include <weft/context/scheduler.hpp>

namespace {

using weft::detail::operation;
using weft::detail::thread_memory;

constexpr int many = 32;

/// Gives its memory back when it runs, and tells whether it is taken again at once.
struct probe final : operation {
  struct counts {
    std::atomic<int> run{0};
    std::atomic<int> reused{0};
  };

  static void post_many(weft::io_context& context, counts& to) {
    for (int i = 0; i != many; ++i) {
      void* const memory = thread_memory::allocate(sizeof(probe), alignof(probe));
      weft::detail::scheduler_post(weft::detail::use_scheduler(context), ::new (memory) probe(to));
    }
  }

 private:
  explicit probe(counts& to) : operation(&end), to_(to) {}

  static void end(operation* op, action) {
    counts& to = static_cast<probe*>(op)->to_;
    thread_memory::deallocate(op, sizeof(probe), alignof(probe));
    void* const next = thread_memory::allocate(sizeof(probe), alignof(probe));
    to.reused += next == op;
    thread_memory::deallocate(next, sizeof(probe), alignof(probe));
    ++to.run;
    to.run.notify_one();
  }

  counts& to_;
};

class stolen_memory : public testing::Test {
 protected:
  void SetUp() override {
    thread_memory::deallocate(thread_memory::allocate(40, 8), 40, 8);
    if (thread_memory::bypass())  // which after the first block only tells
      GTEST_SKIP() << "every block is operator new's";
  }
};

TEST_F(stolen_memory, of_operations_that_another_worker_takes_over_is_not_used_again_there) {
  weft::io_context context(2);
  probe::counts counts;
  std::latch posted(1);  // so that the other takes many at a time
  weft::post(context, [&] {
    probe::post_many(context, counts);
    posted.count_down();
    for (int run = 0; run != many; run = counts.run)
      counts.run.wait(run);
  });
  std::thread other([&] {
    posted.wait();
    context.run();
  });
  context.run();
  other.join();
  EXPECT_EQ(counts.run, many);
  EXPECT_EQ(counts.reused, 0);
}

TEST_F(stolen_memory, of_a_workers_own_operations_is_used_again_at_once) {
  weft::io_context context(1);
  probe::counts counts;
  weft::post(context, [&] { probe::post_many(context, counts); });
  context.run();
  EXPECT_EQ(counts.run, many);
  EXPECT_EQ(counts.reused, many);
}

}  // namespace
