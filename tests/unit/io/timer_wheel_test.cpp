// SPDX-License-Identifier: BSL-1.0
#include "io/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace {

using weft::detail::never;
using weft::detail::timer_entry;
using weft::detail::timer_wheel;

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr unsigned plenty = 1'000'000;

struct entry : timer_entry {
  entry(std::int64_t expiry, std::size_t n) : timer_entry(expiry), number(n) {}
  const std::size_t number;  // in the order of start
};

struct earlier {
  bool operator()(const entry* a, const entry* b) const {
    return a->expiry_ != b->expiry_ ? a->expiry_ < b->expiry_ : a->number < b->number;
  }
};

/// A wheel, and beside it what it ought to hold.
class fixture {
 public:
  explicit fixture(std::int64_t now) : wheel(now) {}

  entry* push(std::int64_t expiry) {
    entry* const e = entries.emplace_back(std::make_unique<entry>(expiry, entries.size())).get();
    wheel.push(e);
    pending.insert(e);
    return e;
  }
  void remove(entry* e) {
    wheel.remove(e);
    pending.erase(e);
  }
  /// Takes out what is due, `moves` at a time; each must be the earliest.
  void take(std::int64_t now, unsigned moves = plenty) {
    for (;;) {
      unsigned left = moves;
      timer_entry* const e = wheel.take_due(now, left);
      if (!e && left == 0)
        continue;
      if (!e)
        break;
      ASSERT_FALSE(pending.empty());
      ASSERT_EQ(e, *pending.begin()) << "expiry " << e->expiry_ << ", not the earliest";
      ASSERT_LE(e->expiry_, now);
      pending.erase(pending.begin());
    }
    ASSERT_TRUE(pending.empty() || (*pending.begin())->expiry_ > now);
  }
  void check_bound() {
    if (pending.empty())
      ASSERT_EQ(wheel.bound(), never);
    else
      ASSERT_LE(wheel.bound(), (*pending.begin())->expiry_);
  }

  timer_wheel wheel;
  std::vector<std::unique_ptr<entry>> entries;
  std::set<entry*, earlier> pending;
};

TEST(timer_wheel, is_in_order_whatever_the_distances) {
  std::mt19937_64 random(20261121);
  for (const int bits : {3, 8, 20, 45, 62}) {
    std::int64_t now = 1'000'000;
    fixture f(now);
    const auto distance = [&] {
      return static_cast<std::int64_t>(random() >>
                                       (63 - static_cast<int>(random() % 63) * bits / 62));
    };
    for (int round = 0; round != 20'000; ++round) {
      const auto action = random() % 8;
      if (action < 4) {
        const std::int64_t d = distance();
        f.push(now > std::numeric_limits<std::int64_t>::max() - d ? now : now + d);
      } else if (action == 4) {
        f.push(now - static_cast<std::int64_t>(random() % 100));
      } else if (action == 5 && !f.pending.empty()) {
        entry* const e = f.entries[random() % f.entries.size()].get();
        if (f.pending.contains(e))
          f.remove(e);
      } else if (action == 6 && !f.pending.empty()) {
        now = std::max(now, (*f.pending.begin())->expiry_);
        f.take(now, 1 + static_cast<unsigned>(random() % 3));
      } else if (now < std::int64_t(1) << 61) {
        now += distance() / 1000;
        f.take(now);
      }
      f.check_bound();
      ASSERT_FALSE(::testing::Test::HasFatalFailure()) << "round " << round << ", bits " << bits;
    }
    f.take(never);
    EXPECT_TRUE(f.pending.empty());
  }
}

TEST(timer_wheel, waits_of_one_expiry_stay_in_order_when_more_come_while_they_are_moved) {
  fixture f(0);
  for (int i = 0; i != 100; ++i)
    f.push(1'000'000 + i % 3);
  unsigned moves = 10;
  EXPECT_EQ(f.wheel.take_due(1'000'000, moves), nullptr);
  EXPECT_EQ(moves, 0u);
  for (int i = 0; i != 100; ++i)
    f.push(1'000'000 + i % 3);
  f.take(1'000'001, 7);
  EXPECT_EQ(f.pending.size(), 66u);
  f.take(1'000'002);
}

TEST(timer_wheel, the_bound_of_a_wait_alone_is_its_expiry) {
  fixture f(5);
  entry* const e = f.push(123'456'789);
  entry* const later = f.push(123'456'790);
  EXPECT_EQ(f.wheel.bound(), 123'456'789);
  f.remove(e);
  f.take(123'456'789);
  EXPECT_EQ(f.wheel.bound(), 123'456'790);
  f.remove(later);
  EXPECT_EQ(f.wheel.bound(), never);
}

TEST(timer_wheel, the_bound_of_a_wait_alone_is_its_expiry_where_an_earlier_one_was) {
  fixture f(0);
  f.remove(f.push(1'000'000));
  f.push(1'000'001);
  EXPECT_EQ(f.wheel.bound(), 1'000'001);
}

TEST(timer_wheel, a_later_wait_leaves_the_bound_where_those_being_moved_were_removed) {
  fixture f(0);
  std::vector<entry*> waits;
  for (int i = 0; i != 20; ++i)
    waits.push_back(f.push(1'000'000 + i));
  unsigned moves = 10;
  EXPECT_EQ(f.wheel.take_due(1'000'000, moves), nullptr);
  EXPECT_EQ(moves, 0u);
  for (std::size_t i = 0; i != waits.size(); ++i)
    if (i < 5 || i >= 10)
      f.remove(waits[i]);
  EXPECT_EQ(f.wheel.bound(), 1'000'005);
  f.push(1'000'007);
  EXPECT_EQ(f.wheel.bound(), 1'000'005) << "who starts 1'000'003 believes the poller wakes earlier";
  f.push(1'000'003);
  EXPECT_EQ(f.wheel.bound(), 1'000'003);
  f.take(1'000'019);
  EXPECT_TRUE(f.pending.empty());
}

TEST(timer_wheel, is_in_order_before_the_epoch) {
  fixture long_before(least + 10);
  long_before.push(3);
  long_before.push(-5);
  EXPECT_EQ(long_before.wheel.bound(), -5);
  long_before.take(3);
  fixture f(-1'000);
  for (const std::int64_t expiry : {-500, 3, -2'000, -1, 0, 1, -500, 70'000})
    f.push(expiry);
  EXPECT_EQ(f.wheel.bound(), -2'000);
  for (const std::int64_t now : {-1'000, -500, 0, 2}) {
    f.take(now);
    f.push(now);
    f.check_bound();
  }
  f.take(70'000);
  EXPECT_TRUE(f.pending.empty());
}

TEST(timer_wheel, takes_times_at_the_ends_of_the_range) {
  fixture f(0);
  f.push(never);
  f.push(least);
  f.push(never - 1);
  f.push(least + 1);
  f.take(never - 1);
  EXPECT_EQ(f.pending.size(), 1u);
  f.take(never);
}

TEST(timer_wheel, a_clock_that_is_set_back_delays_what_is_pending) {
  fixture f(1'000'000);
  f.push(1'000'500);
  f.take(500);
  f.push(700);
  f.push(600);
  EXPECT_EQ(f.wheel.bound(), 600);
  f.take(650);
  EXPECT_EQ(f.pending.size(), 2u);
  f.take(1'000'500);
}

TEST(timer_wheel, hands_out_all_in_the_end) {
  fixture f(1000);
  for (const std::int64_t expiry : {5, 999, 1000, 1001, 70'000, 1'000'000'000})
    f.push(expiry);
  int count = 0;
  while (f.wheel.take_any())
    ++count;
  EXPECT_EQ(count, 6);
  EXPECT_EQ(f.wheel.bound(), never);
}

}  // namespace
