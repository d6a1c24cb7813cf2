// SPDX-License-Identifier: BSL-1.0
#include <weft/base/thread_memory.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/memory_region.hpp"

#include "support/child.hpp"
#include "support/sanitizer.hpp"

namespace {

using weft::detail::memory_region_pool;
using weft::detail::memory_span;
using weft::detail::thread_memory;

/// A block filled with a mark, which has to be there still when it is freed.
struct block {
  block(std::size_t n, std::size_t aligned_to, unsigned seed)
      : size(n),
        alignment(aligned_to),
        mark(static_cast<unsigned char>(seed)),
        bytes(static_cast<unsigned char*>(thread_memory::allocate(n, aligned_to))) {
    std::memset(bytes, mark, size);
  }
  [[nodiscard]] bool free() {
    const bool intact = std::all_of(bytes, bytes + size, [&](auto byte) { return byte == mark; });
    std::memset(bytes, 0xee, size);
    thread_memory::deallocate(bytes, size, alignment);
    return intact;
  }

  std::size_t size, alignment;
  unsigned char mark;
  unsigned char* bytes;
};

/// Takes memory before main, gives it back after it and takes more.
struct static_object {
  ~static_object() {
    block another(100, 8, 2);
    if (!own.free() || !another.free())
      std::abort();
  }
  block own{100, 8, 1};
} outside_main;

std::size_t in_spans() {
  return thread_memory::read_statistics().in_spans;
}

/// The same, with nothing in the depots: of none there is anything left when so many threads that
/// have used it have exited.
std::size_t in_spans_without_depots() {
  for (unsigned batches = 256; batches != 0; batches /= 2)
    std::thread([] {
      for (const std::size_t size : weft::detail::size_class::sizes)
        EXPECT_TRUE(block(size, 8, 0).free());
    }).join();
  return in_spans();
}

/// The tests of how memory is kept; where every block is operator new's, there is nothing to see.
class thread_memory_spans : public testing::Test {
 protected:
  void SetUp() override {
    if (thread_memory::bypass())
      GTEST_SKIP() << "every block is operator new's";
  }
};

TEST(thread_memory, blocks_of_every_size_are_aligned_and_apart) {
  std::vector<block> blocks;
  for (std::size_t size = 0; size <= thread_memory::max_recycled_size + 100; ++size)
    for (std::size_t alignment = 1; alignment <= 256; alignment *= 2)
      for (int i = 0; i != 3; ++i)
        blocks.emplace_back(size, alignment, static_cast<unsigned>(blocks.size() * 7));
  for (block& b : blocks) {
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(b.bytes) % b.alignment, 0u) << b.size;
    ASSERT_TRUE(b.free()) << b.size;
  }
}

TEST_F(thread_memory_spans, the_block_freed_last_is_taken_first) {
  void* first = thread_memory::allocate(40, 8);
  void* second = thread_memory::allocate(40, 8);
  thread_memory::deallocate(first, 40, 8);
  thread_memory::deallocate(second, 40, 8);
  EXPECT_EQ(thread_memory::allocate(33, 8), second);
  EXPECT_EQ(thread_memory::allocate(48, 16), first);
  thread_memory::deallocate(first, 40, 8);
  thread_memory::deallocate(second, 40, 8);
}

TEST_F(thread_memory_spans, so_many_foreign_blocks_as_expected_are_not_taken_again_at_once) {
  const auto take = [] { return thread_memory::allocate(40, 8); };
  const auto give = [](void* block) { thread_memory::deallocate(block, 40, 8); };
  std::thread([&] {
    thread_memory::expect_foreign(3);  // also of a thread that has had no block yet
    thread_memory::expect_foreign(10);
    void* latest = take();
    for (int i = 0; i != 3; ++i) {
      give(latest);
      void* const next = take();
      EXPECT_NE(next, latest);
      latest = next;
    }
    give(latest);
    EXPECT_EQ(take(), latest);
    give(latest);
  }).join();
}

TEST_F(thread_memory_spans, foreign_blocks_do_not_pile_up) {
  const auto frees_of_others = [](std::size_t n) {
    constexpr std::size_t some = 1000;
    std::vector<void*> blocks(some);
    std::size_t most = 0;
    for (std::size_t i = 0; i != n / some; ++i) {
      std::thread([&] {
        for (void*& each : blocks)
          each = thread_memory::allocate(160, 8);
      }).join();
      for (void* each : blocks) {
        thread_memory::expect_foreign(1000);
        thread_memory::deallocate(each, 160, 8);
      }
      most = std::max(most, in_spans());
    }
    return most;
  };
  std::thread([&] {
    const std::size_t after_few = frees_of_others(3'000);
    EXPECT_LE(frees_of_others(100'000), after_few + 4 * memory_span::extent);
  }).join();
}

TEST_F(thread_memory_spans, foreign_blocks_go_back) {
  const std::size_t before = in_spans_without_depots();
  std::thread([] {
    std::vector<void*> blocks(5000);
    for (const std::uint32_t expected : {1u, 64u, 5000u, 7000u, 1'000'000u}) {
      for (void*& each : blocks)
        each = thread_memory::allocate(40, 8);
      thread_memory::expect_foreign(expected);
      for (void* each : blocks)
        thread_memory::deallocate(each, 40, 8);
    }
  }).join();  // it exits before all have come
  EXPECT_EQ(in_spans_without_depots(), before);
}

TEST(thread_memory, blocks_survive_a_churn_across_threads) {
  constexpr unsigned threads = 4;
  struct mailbox {
    std::mutex mutex;
    std::vector<block> blocks;
  } mailboxes[threads];
  const std::size_t before = in_spans_without_depots();
  std::atomic<int> broken{0};
  std::vector<std::thread> running;
  for (unsigned id = 0; id != threads; ++id)
    running.emplace_back([&, id] {
      std::mt19937 random(id);
      for (int round = 0; round != 200; ++round) {
        std::vector<block> out;
        for (unsigned n = random() % 300; n != 0; --n)
          out.emplace_back(random() % 4 ? random() % 100 : random() % 1025, 8, random());
        std::shuffle(out.begin(), out.end(), random);
        std::vector<block> in;
        {
          mailbox& other = mailboxes[random() % threads];
          const std::lock_guard lock(other.mutex);
          other.blocks.insert(other.blocks.end(), out.begin(), out.end());
        }
        {
          const std::lock_guard lock(mailboxes[id].mutex);
          in.swap(mailboxes[id].blocks);
        }
        for (block& b : in)
          broken += !b.free();
      }
    });
  for (std::thread& each : running)
    each.join();
  std::thread([&] {
    for (mailbox& each : mailboxes)
      for (block& b : each.blocks)
        broken += !b.free();
  }).join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(in_spans_without_depots(), before) << "threads that exited kept blocks";
}

TEST_F(thread_memory_spans, what_another_thread_frees_is_taken_again) {
  constexpr int total = 200'000, in_flight = 1000;
  std::mutex mutex;
  std::deque<block> queue;
  std::atomic<int> broken{0};
  std::atomic<bool> done{false};
  const std::size_t before = in_spans_without_depots();
  std::size_t peak = before;
  std::thread consumer([&] {
    for (bool last = false; !last;) {
      last = done;
      std::deque<block> in;
      {
        const std::lock_guard lock(mutex);
        in.swap(queue);
      }
      for (block& b : in)
        broken += !b.free();
      std::this_thread::yield();
    }
  });
  std::thread([&] {
    for (int made = 0; made != total;) {
      const std::lock_guard lock(mutex);
      for (; made != total && queue.size() < in_flight; ++made)
        queue.emplace_back(48, 8, static_cast<unsigned>(made));
      peak = std::max(peak, in_spans());
    }
    done = true;
  }).join();
  consumer.join();
  EXPECT_EQ(broken, 0);
  EXPECT_LE(peak - before, 8 * memory_span::extent) << "of " << total * 48 << " bytes in all";
  EXPECT_EQ(in_spans_without_depots(), before);
}

TEST_F(thread_memory_spans, batches_taken_and_given_in_turn_stay_what_they_are) {
  constexpr std::size_t size = 160;
  constexpr unsigned batches = 20, round = 64 * batches;
  const std::size_t before = in_spans_without_depots();
  std::thread([&] {
    std::vector<block> blocks;
    const auto take = [&] {
      for (unsigned i = 0; i != round; ++i)
        blocks.emplace_back(size, 8, i);
    };
    const auto free = [&] {
      while (!blocks.empty()) {
        EXPECT_TRUE(blocks.back().free());
        blocks.pop_back();
      }
    };
    take();
    const std::size_t taken = in_spans();
    for (int i = 0; i != 10; ++i) {
      free();
      EXPECT_EQ(in_spans(), taken) << "batches are not kept";
      take();
      EXPECT_EQ(in_spans(), taken) << "the batches kept are not those taken";
    }
    free();
  }).join();
  EXPECT_EQ(in_spans_without_depots(), before) << "a depot outlives the threads that used it";
}

TEST_F(thread_memory_spans, a_thread_that_exits_leaves_the_others_their_depots) {
  constexpr std::size_t size = 160;
  const auto use_and_exit = [](std::size_t of) {
    std::thread([of] { EXPECT_TRUE(block(of, 8, 0).free()); }).join();
  };
  in_spans_without_depots();
  std::thread([&] {
    std::vector<block> blocks;
    for (unsigned i = 0; i != 64 * 20; ++i)
      blocks.emplace_back(size, 8, i);
    for (; !blocks.empty(); blocks.pop_back())
      EXPECT_TRUE(blocks.back().free());
    const std::size_t kept = in_spans();
    use_and_exit(32);
    EXPECT_EQ(in_spans(), kept) << "by a thread that has not used them";
    use_and_exit(size);
    const std::size_t halved = in_spans();
    EXPECT_GT(halved, in_spans_without_depots()) << "by one of those that use them";
  }).join();
}

TEST_F(thread_memory_spans, a_full_depot_is_not_emptied_at_once) {
  constexpr std::size_t size = 160;
  constexpr unsigned batch = 64, most = 256 * 1024 / (batch * size);
  in_spans_without_depots();
  std::thread([&] {
    std::vector<block> blocks;
    for (unsigned i = 0; i != 100 * batch; ++i)
      blocks.emplace_back(size, 8, i);
    // The thread's lists, the depot, and one batch more.
    for (unsigned i = 0; i != (2 + most + 1) * batch + 1; ++i, blocks.pop_back())
      EXPECT_TRUE(blocks.back().free());
    const std::size_t spans = in_spans();
    for (unsigned i = 0; i != (most - 4) * batch; ++i)
      blocks.emplace_back(size, 8, i);
    EXPECT_EQ(in_spans(), spans);
    for (block& b : blocks)
      EXPECT_TRUE(b.free());
  }).join();
}

TEST_F(thread_memory_spans, a_thread_that_only_frees_keeps_little) {
  constexpr std::size_t size = 256, total = 200'000;
  const std::size_t before = in_spans_without_depots();
  std::thread([&] {
    std::vector<block> blocks;
    for (unsigned i = 0; i != total; ++i)
      blocks.emplace_back(size, 8, i);
    std::shuffle(blocks.begin(), blocks.end(), std::mt19937(1));
    bool intact = true;
    for (block& b : blocks)
      intact = b.free() && intact;
    EXPECT_TRUE(intact);
    // At worst each block is the last of its span: two lists of the thread, and one batch.
    EXPECT_LE(in_spans() - before, 3 * 64 * memory_span::extent) << "of " << total * size;
  }).join();
  EXPECT_EQ(in_spans_without_depots(), before);
}

TEST_F(thread_memory_spans, more_than_the_reserve_goes_back_to_the_system) {
  constexpr std::size_t size = 1024;
  constexpr std::size_t blocks = 2 * memory_region_pool::max_reserve / size;
  in_spans_without_depots();
  const thread_memory::statistics before = thread_memory::read_statistics();
  std::thread([&] {
    std::vector<void*> taken(blocks);
    for (void*& p : taken)
      p = thread_memory::allocate(size, 8);
    EXPECT_GE(in_spans() - before.in_spans, blocks * size);
    for (void* p : taken)
      thread_memory::deallocate(p, size, 8);
  }).join();
  in_spans_without_depots();
  const thread_memory::statistics after = thread_memory::read_statistics();
  EXPECT_EQ(after.in_spans, before.in_spans);
  EXPECT_EQ(after.reserved, memory_region_pool::max_reserve);
  EXPECT_EQ(after.mapped - after.reserved, before.mapped - before.reserved);
}

TEST_F(thread_memory_spans, a_span_serves_one_class_after_another) {
  const auto use = [](std::size_t size) {
    std::thread([size] {
      std::vector<block> blocks;
      for (unsigned i = 0; i != 5000; ++i)
        blocks.emplace_back(size, 8, i);
      for (block& b : blocks)
        EXPECT_TRUE(b.free());
    }).join();
  };
  use(1024);
  const std::size_t mapped = thread_memory::read_statistics().mapped;
  for (std::size_t size = 16; size <= 1024; size += 16)
    use(size);
  EXPECT_EQ(thread_memory::read_statistics().mapped, mapped);
}

/// Frees and allocates while its thread exits.
struct departing {
  ~departing() {
    std::vector<block> more;
    for (unsigned i = 0; i != 200; ++i)
      more.emplace_back(i * 5, 8, i);
    for (block& b : blocks)
      *broken += !b.free();
    for (block& b : more)
      *broken += !b.free();
  }
  std::vector<block> blocks;
  int* broken = nullptr;
};

TEST(thread_memory, serves_a_thread_whose_own_lists_are_gone) {
  const std::size_t before = in_spans_without_depots();
  int broken = 0;
  std::thread([&] {
    thread_local departing outlives_the_lists;  // it is made before them
    outlives_the_lists.broken = &broken;
    for (unsigned i = 0; i != 200; ++i)
      outlives_the_lists.blocks.emplace_back(i * 5, 8, i);
  }).join();
  EXPECT_EQ(broken, 0);
  EXPECT_EQ(in_spans_without_depots(), before);
}

// ThreadSanitizer needs address space of its own.
#if !WEFT_TEST_TSAN
void exhaust() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t limit = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + (64u << 20);
  const rlimit to{limit, limit};
  if (::setrlimit(RLIMIT_AS, &to) != 0)
    std::_Exit(2);
  struct link {
    link* next;
  };
  for (int round = 0; round != 2; ++round) {
    link* all = nullptr;
    std::size_t taken = 0;
    try {
      for (;; ++taken)
        all = ::new (thread_memory::allocate(1024, 8)) link{all};
    } catch (const std::bad_alloc&) {}
    // What has been freed as foreign is at hand still.
    link* const first = all;
    all = first->next;
    thread_memory::expect_foreign(10);
    thread_memory::deallocate(first, 1024, 8);
    try {
      all = ::new (thread_memory::allocate(1024, 8)) link{all};
    } catch (const std::bad_alloc&) {
      std::_Exit(4);
    }
    while (link* one = all) {
      all = one->next;
      thread_memory::deallocate(one, 1024, 8);
    }
    if (taken < (16u << 20) / 1024)
      std::_Exit(3);
  }
  std::_Exit(0);
}

TEST_F(thread_memory_spans, exhaustion_is_bad_alloc_and_passes) {
  EXPECT_EXIT(exhaust(), testing::ExitedWithCode(0), "");
}

TEST_F(thread_memory_spans, serve_the_child_of_a_fork) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> busy;
  for (int id = 0; id != 2; ++id)
    busy.emplace_back([&] {
      std::vector<block> blocks;
      while (!stop) {
        for (unsigned i = 0; i != 1000; ++i)
          blocks.emplace_back(32, 8, i);
        for (block& b : blocks)
          EXPECT_TRUE(b.free());
        blocks.clear();
      }
    });
  for (int i = 0; i != 100; ++i) {
    const bool has_succeeded = weft_test::succeeds_in_a_child([] {
      void* taken[1000];
      for (void*& p : taken)
        p = thread_memory::allocate(32, 8);
      for (void* p : taken)
        thread_memory::deallocate(p, 32, 8);
      return true;
    });
    EXPECT_TRUE(has_succeeded);
    if (!has_succeeded)
      break;
  }
  stop = true;
  for (std::thread& each : busy)
    each.join();
}
#endif

}  // namespace
