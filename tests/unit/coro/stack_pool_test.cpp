// SPDX-License-Identifier: BSL-1.0
#include <weft/coro/stack_pool.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <latch>
#include <set>
#include <thread>
#include <vector>

#include "coro/fiber/stack_depot.hpp"
#include "support/child.hpp"
#include "support/manual_clock.hpp"
#include "support/sanitizer.hpp"

namespace {

using weft::stack_context;
using weft::stack_pool;
using weft::stack_size;
using weft::detail::page_size;
using weft::detail::stack_depot;
using weft::detail::stack_guards;
using weft_test::succeeds_in_a_child;
using namespace std::chrono_literals;

constexpr std::size_t usable = 32 * 1024;

/// Takes so many stacks.
std::vector<std::byte*> take(stack_depot& depot, std::size_t count) {
  std::vector<std::byte*> stacks(count);
  for (std::size_t n = 0; n != count;)
    n += depot.take(stacks.data() + n, count - n);
  return stacks;
}
void give(stack_depot& depot, const std::vector<std::byte*>& stacks) {
  depot.give(stacks.data(), stacks.size());
}
/// Has the depot look at what is idle.
void look(stack_depot& depot) {
  depot.give(nullptr, 0);
}

TEST(stack_pool, gives_what_was_asked_for_and_it_can_be_written) {
  for (const std::size_t size :
       {1u, 16u << 10, 64u << 10, 65u << 10, 1u << 20, 8u << 20, 9u << 20}) {
    const stack_pool pool{stack_size(size)};
    stack_context stack = pool.allocate();
    EXPECT_GE(stack.size + 2048, size);
    auto* const limit = static_cast<char*>(stack.sp) - stack.size;
    std::memset(limit, 1, stack.size);
    pool.deallocate(stack);
  }
}

TEST(stack_pool, gives_a_stack_again) {
  const stack_pool pool;
  stack_context first = pool.allocate();
  void* const sp = first.sp;
  pool.deallocate(first);
  stack_context second = pool.allocate();
  EXPECT_EQ(second.sp, sp);
  pool.deallocate(second);
}

TEST(stack_pool, tells_the_most_of_the_largest_stacks_that_were_in_use) {
  const stack_pool pool{stack_size(9u << 20)};
  const std::size_t before = stack_pool::read_statistics().high_water;
  stack_context stacks[3] = {pool.allocate(), pool.allocate(), pool.allocate()};
  for (stack_context& stack : stacks)
    pool.deallocate(stack);
  const std::size_t most = stack_pool::read_statistics().high_water;
  EXPECT_GE(most, 3u);
  EXPECT_LE(before, most);
  stack_context again = pool.allocate();
  EXPECT_EQ(stack_pool::read_statistics().high_water, most);
  pool.deallocate(again);
}

TEST(stack_pool, tops_lie_at_different_places_of_their_pages) {
  const stack_pool pool{stack_size(128 * 1024)};
  std::vector<stack_context> stacks;
  std::set<std::uintptr_t> offsets;
  for (int i = 0; i != 64; ++i) {
    stacks.push_back(pool.allocate());
    offsets.insert(reinterpret_cast<std::uintptr_t>(stacks.back().sp) % page_size());
  }
  for (stack_context& stack : stacks)
    pool.deallocate(stack);
  EXPECT_GE(offsets.size(), 16u);
}

TEST(stack_pool, counts_what_is_in_use_on_all_threads) {
  const auto before = stack_pool::read_statistics();
  const stack_pool pool;
  std::vector<stack_context> stacks;
  for (int i = 0; i != 40; ++i)
    stacks.push_back(pool.allocate());
  EXPECT_EQ(stack_pool::read_statistics().in_use, before.in_use + 40);
  EXPECT_GE(stack_pool::read_statistics().high_water, before.in_use + 40);
  std::thread([&] {
    for (stack_context& stack : stacks)
      pool.deallocate(stack);
    EXPECT_EQ(stack_pool::read_statistics().in_use, before.in_use);
  }).join();
  EXPECT_EQ(stack_pool::read_statistics().in_use, before.in_use);
}

TEST(stack_pool, a_trim_gives_the_memory_back) {
  const stack_pool pool{stack_size(256 * 1024)};
  std::vector<stack_context> stacks;
  for (int i = 0; i != 64; ++i)
    stacks.push_back(pool.allocate());
  const auto full = stack_pool::read_statistics();
  for (stack_context& stack : stacks)
    pool.deallocate(stack);
  stack_pool::trim();
  const auto trimmed = stack_pool::read_statistics();
  EXPECT_LT(trimmed.bytes, full.bytes);
  EXPECT_LT(trimmed.cached, 64u);
}

TEST(stack_depot, what_nobody_has_needed_for_an_interval_goes_back) {
  const weft_test::manual_time time;
  stack_guards guards(1000);
  stack_depot depot(usable, guards);
  const auto all = take(depot, 100);
  const std::size_t bytes = depot.read().bytes;
  time.advance(2s);
  give(depot, all);
  EXPECT_EQ(depot.read().with_memory, 100u) << "they were in use in this interval";

  const auto busy = take(depot, 30);
  give(depot, busy);
  time.advance(2s);
  look(depot);
  EXPECT_GE(depot.read().with_memory, 30u);
  EXPECT_LT(depot.read().with_memory, 100u);

  time.advance(2s);
  look(depot);
  EXPECT_EQ(depot.read().with_memory, 0u);
  EXPECT_LT(depot.read().bytes, bytes);
  EXPECT_EQ(depot.read().high_water, 100u);
  give(depot, take(depot, 50));
}

TEST(stack_depot, memory_that_went_back_is_zero_and_can_be_used) {
  stack_guards guards(1000);
  stack_depot depot(usable, guards);
  const auto stacks = take(depot, 2);
  std::memset(stacks[0], 1, usable);
  depot.give(stacks.data(), 1);
  depot.trim();
  std::byte* again;
  depot.take(&again, 1);
  ASSERT_EQ(again, stacks[0]);
  EXPECT_TRUE(std::all_of(again, again + usable, [](std::byte b) { return b == std::byte{0}; }));
  std::memset(again, 2, usable);
  EXPECT_EQ(stacks[1][0], std::byte{0});
  depot.give(&again, 1);
  depot.give(&stacks[1], 1);
}

#if WEFT_TEST_FORKS_OF_THREADS

/// Takes so many stacks, gives them back, and returns where they were.
std::set<void*> use_stacks(std::size_t count) {
  std::vector<stack_context> stacks(count);
  std::set<void*> places;
  for (stack_context& stack : stacks) {
    stack = stack_pool().allocate();
    static_cast<char*>(stack.sp)[-1] = 1;
    places.insert(stack.sp);
  }
  for (stack_context& stack : stacks)
    stack_pool().deallocate(stack);
  return places;
}

TEST(stack_pool, a_child_of_a_fork_takes_over_the_stacks_that_other_threads_have_kept) {
  std::set<void*> kept;
  std::latch has_used{1}, may_end{1};
  std::thread other([&] {
    kept = use_stacks(1);
    has_used.count_down();
    may_end.wait();
  });
  has_used.wait();
  EXPECT_TRUE(succeeds_in_a_child([&] {
    const std::set<void*> taken = use_stacks(300);
    return std::includes(taken.begin(), taken.end(), kept.begin(), kept.end());
  }));
  may_end.count_down();
  other.join();
}

TEST(stack_pool, a_child_of_a_fork_may_use_what_other_threads_were_using) {
  weft_test::expect_success_in_children_meanwhile(
      [] {
        use_stacks(100);
        stack_pool::trim();
      },
      [] { return use_stacks(300).size() == 300 && stack_pool::read_statistics().cached != 0; });
}

#endif

TEST(stack_depot, guards_by_protection_are_limited_and_the_rest_is_counted) {
  stack_guards guards(10, false);
  {
    stack_depot depot(usable, guards);
    give(depot, take(depot, 16));
    EXPECT_EQ(depot.read().unguarded, 6u);
    depot.trim();
    EXPECT_EQ(depot.read().bytes, 0u);
    give(depot, take(depot, 16));
    EXPECT_EQ(depot.read().unguarded, 6u) << "guards that are gone may be made anew";
  }
}

#if !WEFT_TEST_TSAN && !WEFT_TEST_ASAN

TEST(stack_guards, one_that_fails_does_not_end_those_by_advice) {
  const std::size_t page = page_size();
  std::byte* const memory = weft::detail::map_stacks(3 * page);
  ASSERT_NE(memory, nullptr);
  stack_guards guards(0);
  if (!guards.install(memory)) {
    weft::detail::unmap_stacks(memory, 3 * page);
    GTEST_SKIP() << "the kernel has no guards by advice";
  }
  weft::detail::unmap_stacks(memory + page, page);
  EXPECT_FALSE(guards.install(memory + page)) << "there is no such page";
  EXPECT_TRUE(guards.install(memory + 2 * page));
  guards.uninstalled(2);
  weft::detail::unmap_stacks(memory, page);
  weft::detail::unmap_stacks(memory + 2 * page, page);
}

TEST(stack_depot_death, a_guard_faults_however_it_was_made) {
  for (const bool by_advice : {true, false}) {
    stack_guards guards(10, by_advice);
    stack_depot depot(usable, guards);
    std::byte* stack;
    depot.take(&stack, 1);
    stack[0] = std::byte{1};
    EXPECT_DEATH(*const_cast<volatile std::byte*>(stack - 1) = std::byte{1}, "");
    EXPECT_DEATH(*const_cast<volatile std::byte*>(stack - page_size()) = std::byte{1}, "");
    depot.trim();
    EXPECT_DEATH(*const_cast<volatile std::byte*>(stack - 1) = std::byte{1}, "");
    depot.give(&stack, 1);
  }
}

#endif

}  // namespace
