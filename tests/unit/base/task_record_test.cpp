// SPDX-License-Identifier: BSL-1.0
#include <weft/base/task_record.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "support/child.hpp"

namespace {

using weft::detail::task_kind;
using weft::detail::task_record;
using weft::detail::task_slot;
using weft::detail::task_slots;

std::size_t count_slots() {
  std::size_t n = 0;
  EXPECT_TRUE(task_slots::read(
      [](void* count, std::span<const task_slot> slots) {
        *static_cast<std::size_t*>(count) += slots.size();
      },
      &n));
  return n;
}

std::vector<task_slot*> take(std::size_t n) {
  std::vector<task_slot*> taken(n);
  for (task_slot*& slot : taken)
    slot = task_slots::take();
  return taken;
}

void give(const std::vector<task_slot*>& taken) {
  for (task_slot* const slot : taken)
    task_slots::give(slot);
}

TEST(task_slots, are_used_again) {
  give(take(1000));
  const std::size_t slots = count_slots();
  for (std::size_t n : {1, 999, 63, 64, 65, 128, 129, 1000})
    give(take(n));
  EXPECT_EQ(count_slots(), slots);
}

TEST(task_slots, that_are_taken_here_and_given_there_are_used_again) {
  give(take(1000));
  const std::size_t slots = count_slots();
  for (int i = 0; i != 20; ++i)
    std::thread([taken = take(500)] { give(taken); }).join();
  EXPECT_EQ(count_slots(), slots);
}

TEST(task_slots, of_a_thread_that_has_exited_are_used_again) {
  std::thread([] { give(take(1000)); }).join();
  const std::size_t slots = count_slots();
  for (int i = 0; i != 20; ++i)
    std::thread([] { give(take(900)); }).join();
  EXPECT_EQ(count_slots(), slots);
}

TEST(task_slots, no_two_are_the_same_and_no_id_comes_twice) {
  constexpr std::size_t n = 1000;
  std::vector<std::vector<task_slot*>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken)
    threads.emplace_back([&] {
      give(take(100));
      mine = take(n);
    });
  for (std::thread& t : threads)
    t.join();
  std::set<task_slot*> slots;
  std::set<std::uint64_t> ids;
  for (const auto& of_thread : taken)
    for (task_slot* const slot : of_thread) {
      slots.insert(slot);
      ids.insert(slot->id);
    }
  EXPECT_EQ(slots.size(), 4 * n);
  EXPECT_EQ(ids.size(), 4 * n);
  for (const auto& of_thread : taken)
    give(of_thread);
  for (task_slot* const slot : take(n))
    EXPECT_TRUE(ids.insert(slot->id).second);
}

/// Takes and gives slots while its thread's objects are destroyed.
struct late {
  ~late() { give(take(100)); }
};

TEST(task_slots, are_there_while_a_thread_ends) {
  std::thread([] {
    static thread_local const late l;
    static_cast<void>(&l);
    give(take(1));
  }).join();
  const std::size_t slots = count_slots();
  std::thread([] {
    static thread_local const late l;
    static_cast<void>(&l);
    give(take(1));
  }).join();
  EXPECT_EQ(count_slots(), slots);
}

struct task : task_record {
  static std::size_t no_calls(const task_record&, std::span<std::source_location>) noexcept {
    return 0;
  }
  static constexpr task_kind kind{"test", &no_calls};
  task() : task_record(kind, std::source_location::current()) {}
};

std::size_t count_tasks() {
  std::size_t n = 0;
  EXPECT_TRUE(task_slots::read(
      [](void* count, std::span<const task_slot> slots) {
        for (const task_slot& slot : slots)
          if (task_record::in(slot) && slot.kind == &task::kind)
            ++*static_cast<std::size_t*>(count);
      },
      &n));
  return n;
}

TEST(task_record, is_found_while_it_lives) {
  EXPECT_EQ(count_tasks(), 0u);
  {
    const task one;
    EXPECT_EQ(count_tasks(), 1u);
    const std::vector<task> more(200);
    EXPECT_EQ(count_tasks(), 201u);
  }
  EXPECT_EQ(count_tasks(), 0u);
}

TEST(task_record, what_the_reader_throws_ends_the_round) {
  const task one;
  EXPECT_THROW(task_slots::read([](void*, std::span<const task_slot>) { throw 1; }, nullptr), int);
  EXPECT_EQ(count_tasks(), 1u);
  task two;
  two.waits("");
  two.goes_on();
}

TEST(task_record, a_child_of_a_fork_may_read_what_another_thread_was_reading) {
  const task one;
  std::atomic<bool> done{false};
  std::thread reader([&] {
    while (!done)
      count_tasks();
  });
  for (int i = 0; i != 20; ++i) {
    EXPECT_TRUE(weft_test::succeeds_in_a_child([] {
      task two;
      two.waits("");
      two.goes_on();
      return count_tasks() == 2;
    }));
  }
  done = true;
  reader.join();
}

}  // namespace
