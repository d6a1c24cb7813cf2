// SPDX-License-Identifier: BSL-1.0
#include <weft/base/word_mutex.hpp>

#include <gtest/gtest.h>

#include <latch>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using weft::detail::word_mutex;

TEST(word_mutex, excludes_all_but_one_thread) {
  constexpr int threads = 4;
  constexpr int rounds = 20'000;
  word_mutex mutex;
  int value = 0;
  bool inside = false;
  bool overlapped = false;
  {
    std::vector<std::jthread> all;
    for (int i = 0; i != threads; ++i)
      all.emplace_back([&] {
        for (int k = 0; k != rounds; ++k) {
          const std::lock_guard lock(mutex);
          overlapped = overlapped || inside;
          inside = true;
          ++value;
          inside = false;
        }
      });
  }
  EXPECT_EQ(value, threads * rounds);
  EXPECT_FALSE(overlapped);
}

// Each round the others sleep on the mutex, or are about to: one unlock after another has to wake
// the next.
TEST(word_mutex, every_waiting_thread_is_woken) {
  constexpr int threads = 3;
  constexpr int rounds = 200;
  for (int k = 0; k != rounds; ++k) {
    word_mutex mutex;
    std::latch started(threads);
    int taken = 0;
    std::vector<std::jthread> all;
    mutex.lock();
    for (int i = 0; i != threads; ++i)
      all.emplace_back([&] {
        started.count_down();
        const std::lock_guard lock(mutex);
        ++taken;
      });
    started.wait();
    std::this_thread::yield();
    mutex.unlock();
    all.clear();
    EXPECT_EQ(taken, threads);
  }
}

}  // namespace
