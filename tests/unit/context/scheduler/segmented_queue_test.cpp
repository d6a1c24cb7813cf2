// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/segmented_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

namespace {

using weft::detail::operation;
using weft::detail::operation_queue;
using queue = weft::detail::segmented_queue;

struct item final : operation {
  item(std::size_t n, int& destroyed) : operation(&end), number(n), count(destroyed) {}
  static void end(operation* op, action) { ++static_cast<item*>(op)->count; }
  const std::size_t number;
  int& count;
};

class segmented_queue_test : public testing::Test {
 protected:
  item* make() {
    return items_.emplace_back(std::make_unique<item>(items_.size(), destroyed)).get();
  }

  /// A chain of `n`, appended to `to` and to `expected`.
  void append_chain(queue& to, std::deque<operation*>& expected, std::size_t n) {
    operation* first = nullptr;
    operation* last = nullptr;
    for (std::size_t i = 0; i != n; ++i) {
      operation* const op = make();
      operation_queue::next(op) = nullptr;
      (last ? operation_queue::next(last) : first) = op;
      last = op;
      expected.push_back(op);
    }
    to.append(first, last, n);
  }

  int destroyed = 0;

 private:
  std::vector<std::unique_ptr<item>> items_;
};

TEST_F(segmented_queue_test, is_first_in_first_out_however_it_is_filled_and_cut) {
  for (unsigned seed = 0; seed != 40; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return random() % n; };
    queue queues[2];
    std::deque<operation*> expected[2];
    for (int step = 0; step != 400; ++step) {
      const std::size_t i = below(2);
      queue& q = queues[i];
      queue& other = queues[1 - i];
      auto& e = expected[i];
      auto& other_e = expected[1 - i];
      switch (below(14)) {
        case 0: append_chain(q, e, 1 + below(3 * queue::limit)); break;
        case 1: append_chain(q, e, 1 + below(3)); break;
        case 2:
          q.append(other);
          e.insert(e.end(), other_e.begin(), other_e.end());
          other_e.clear();
          break;
        case 3:
          q.prepend(other);
          e.insert(e.begin(), other_e.begin(), other_e.end());
          other_e.clear();
          break;
        case 4: {
          q.take_segments(other, 1 + below(4));
          queue taken;
          taken.swap(q);
          for (operation* known : e) {
            ASSERT_EQ(taken.pop(), known);
            q.push(known);
          }
          while (operation* op = taken.pop()) {
            ASSERT_FALSE(other_e.empty());
            ASSERT_EQ(op, other_e.front());
            other_e.pop_front();
            q.push(op);
            e.push_back(op);
          }
          break;
        }
        case 5: {
          // What is between the first and the last segment, as both queues were before.
          const std::size_t before = other.segments();
          std::deque<operation*> left;
          const std::size_t n = q.take_rest(other);
          while (operation* op = other.pop())
            left.push_back(op);
          ASSERT_EQ(left.size() + n, other_e.size());
          ASSERT_TRUE(n == 0 || before > 1);
          std::size_t front = 0;
          while (front != left.size() && left[front] == other_e[front])
            ++front;
          const auto begin = other_e.begin() + static_cast<std::ptrdiff_t>(front);
          const auto end = begin + static_cast<std::ptrdiff_t>(n);
          e.insert(e.end(), begin, end);
          other_e.erase(begin, end);
          ASSERT_EQ(other_e, left);
          for (operation* op : left)
            other.push(op);
          break;
        }
        case 6:
          q.swap(other);
          e.swap(other_e);
          break;
        case 7:
        case 8:
        case 9:
          for (std::size_t n = below(2 * queue::limit); n != 0; --n) {
            operation* const op = make();
            q.push(op);
            e.push_back(op);
          }
          break;
        case 10: {
          operation* const op = make();
          q.push_front(op);
          e.push_front(op);
          break;
        }
        default:
          for (std::size_t n = below(3 * queue::limit); n != 0 && !e.empty(); --n) {
            ASSERT_EQ(q.pop(), e.front());
            e.pop_front();
          }
      }
      ASSERT_EQ(q.empty(), e.empty());
      ASSERT_EQ(other.empty(), other_e.empty());
      ASSERT_GE(q.size(), e.size());
      ASSERT_LE(q.size(), e.size() + queue::limit * 3);
    }
    for (std::size_t i = 0; i != 2; ++i) {
      for (operation* op : expected[i])
        ASSERT_EQ(queues[i].pop(), op);
      ASSERT_EQ(queues[i].pop(), nullptr);
    }
  }
}

TEST_F(segmented_queue_test, gives_about_half_of_a_short_queue_and_loses_none) {
  for (std::size_t total : {1u, 2u, 3u, 100u, 128u, 129u, 200u, 256u})
    for (std::size_t popped : {0u, 1u, 50u, 128u, 200u}) {
      if (popped >= total || (popped == 0 && total > queue::limit))
        continue;
      queue victim, thief;
      std::vector<operation*> left;
      for (std::size_t i = 0; i != total; ++i) {
        operation* const op = make();
        victim.push(op);
        left.push_back(op);
      }
      for (std::size_t i = 0; i != popped; ++i)
        ASSERT_EQ(victim.pop(), left[i]);
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(popped));
      thief.take_half(victim);
      std::vector<operation*> kept, taken;
      while (operation* op = victim.pop())
        kept.push_back(op);
      while (operation* op = thief.pop())
        taken.push_back(op);
      EXPECT_FALSE(taken.empty()) << total << ' ' << popped;
      EXPECT_LE(taken.size(), left.size() / 2 + queue::limit) << total << ' ' << popped;
      EXPECT_GE(taken.size() + queue::limit, left.size() / 2) << total << ' ' << popped;
      const auto made_earlier = [](operation* x, operation* y) {
        return static_cast<item*>(x)->number < static_cast<item*>(y)->number;
      };
      EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end(), made_earlier));
      kept.insert(kept.end(), taken.begin(), taken.end());
      std::sort(kept.begin(), kept.end(), made_earlier);
      EXPECT_EQ(kept, left);
    }
}

TEST_F(segmented_queue_test, destroys_what_is_left) {
  {
    queue q;
    for (int i = 0; i != 1000; ++i)
      q.push(make());
    for (int i = 0; i != 10; ++i)
      q.pop();
  }
  EXPECT_EQ(destroyed, 990);
}

}  // namespace
