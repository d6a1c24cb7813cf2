// SPDX-License-Identifier: BSL-1.0
#include <weft/base/function_operation.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::detail::operation_function;

/// A function that counts its calls, and keeps `alive` until it has been called or destroyed.
struct counted {
  operation_function make() {
    return operation_function(weft::detail::make_function_operation(
        [this, kept = std::make_unique<std::shared_ptr<int>>(alive)] { ++calls; },
        std::allocator<void>()));
  }
  bool is_over() const { return alive.use_count() == 1; }

  std::shared_ptr<int> alive = std::make_shared<int>();
  std::atomic<int> calls = 0;
};

TEST(operation_function, serves_std_function) {
  counted f;
  std::function<void()> first(f.make());
  std::function<void()> second(first);
  first = nullptr;
  EXPECT_FALSE(f.is_over());
  second();
  EXPECT_EQ(f.calls, 1);
  EXPECT_TRUE(f.is_over());
}

TEST(operation_function, is_called_once_by_whichever_copy_comes_first) {
  counted f;
  operation_function a = f.make();
  operation_function b(a);
  operation_function c(b);
  c();
  EXPECT_TRUE(f.is_over());
  a();
  b();
  c();
  operation_function d(a);
  d();
  EXPECT_EQ(f.calls, 1);
}

TEST(operation_function, is_destroyed_uncalled_with_the_last_copy) {
  counted f;
  {
    std::vector<operation_function> copies;
    {
      const operation_function original = f.make();
      copies.assign(3, original);
    }
    copies.pop_back();
    copies.front() = std::move(copies.back());
    EXPECT_FALSE(f.is_over());
  }
  EXPECT_TRUE(f.is_over());
  EXPECT_EQ(f.calls, 0);
}

TEST(operation_function, is_queued_once_when_copies_are_submitted) {
  counted f;
  operation_function a = f.make();
  operation_function b(a);
  weft::detail::operation_queue queue;
  queue.push(weft::detail::make_function_operation(std::move(a), std::allocator<void>()));
  queue.push(weft::detail::make_function_operation(std::move(b), std::allocator<void>()));
  while (weft::detail::operation* op = queue.pop())
    op->invoke();
  EXPECT_EQ(f.calls, 1);
  EXPECT_TRUE(f.is_over());
}

TEST(operation_function, is_called_once_by_threads_that_hold_copies) {
  for (int round = 0; round < 200; ++round) {
    counted f;
    {
      operation_function mine = f.make();
      std::thread other([theirs = mine]() mutable { theirs(); });
      mine();
      other.join();
    }
    EXPECT_EQ(f.calls, 1);
    EXPECT_TRUE(f.is_over());
  }
}

}  // namespace
