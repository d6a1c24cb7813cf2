// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "observe/stall_watch.hpp"

namespace {

using weft::observe::stall_watch;
using ended = std::vector<std::pair<std::uint64_t, std::int64_t>>;  // worker, duration

/// A look at one worker. Returns whether it was found stalled.
bool look(stall_watch& watch, std::int64_t now, stall_watch::sight s, ended& over) {
  watch.begin(now);
  const bool found = watch.see(s);
  watch.finish([&](const stall_watch::held& h, std::int64_t duration) {
    over.emplace_back(h.worker, duration);
  });
  return found;
}

TEST(stall_watch, a_worker_in_one_handler_for_the_limit_is_found_once) {
  stall_watch watch(100);
  ended over;
  EXPECT_FALSE(look(watch, 1000, {1, 7, false}, over));
  EXPECT_FALSE(look(watch, 1099, {1, 7, false}, over));
  EXPECT_TRUE(look(watch, 1100, {1, 7, false}, over));
  EXPECT_EQ(watch.duration(1), 100);
  EXPECT_FALSE(look(watch, 1200, {1, 7, false}, over));
  EXPECT_TRUE(over.empty());
}

TEST(stall_watch, a_stall_ends_with_the_next_handler) {
  stall_watch watch(100);
  ended over;
  look(watch, 1000, {1, 7, false}, over);
  look(watch, 1100, {1, 7, false}, over);
  EXPECT_FALSE(look(watch, 1150, {1, 8, false}, over));
  EXPECT_EQ(over, (ended{{1, 150}}));
  EXPECT_TRUE(look(watch, 1250, {1, 8, false}, over));
}

TEST(stall_watch, a_stall_ends_with_sleep) {
  stall_watch watch(100);
  ended over;
  look(watch, 1000, {1, 7, false}, over);
  look(watch, 1100, {1, 7, false}, over);
  look(watch, 1150, {1, 7, true}, over);
  EXPECT_EQ(over, (ended{{1, 150}}));
}

TEST(stall_watch, a_stall_ends_with_its_worker) {
  stall_watch watch(100);
  ended over;
  look(watch, 1000, {1, 7, false}, over);
  look(watch, 1100, {1, 7, false}, over);
  look(watch, 1150, {2, 7, false}, over);
  EXPECT_EQ(over, (ended{{1, 150}}));
}

TEST(stall_watch, what_ends_within_the_limit_is_not_told) {
  stall_watch watch(100);
  ended over;
  for (std::uint64_t handler = 1; handler != 50; ++handler) {
    EXPECT_FALSE(look(watch, static_cast<std::int64_t>(handler) * 50, {1, handler, false}, over));
    EXPECT_FALSE(
        look(watch, static_cast<std::int64_t>(handler) * 50 + 49, {1, handler, false}, over));
  }
  EXPECT_TRUE(over.empty());
}

TEST(stall_watch, a_worker_asleep_or_before_its_first_handler_is_not_held) {
  stall_watch watch(100);
  ended over;
  for (std::int64_t now = 0; now != 1000; now += 100) {
    EXPECT_FALSE(look(watch, now, {1, 7, true}, over));
    EXPECT_FALSE(look(watch, now, {2, 0, false}, over));
  }
}

}  // namespace
