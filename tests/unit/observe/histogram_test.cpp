// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <chrono>
#include <weft/observe/histogram.hpp>

namespace {

using namespace std::chrono_literals;
using weft::observe::histogram;
using buckets = weft::detail::log_buckets;

TEST(histogram, a_bucket_ends_where_the_next_one_begins) {
  for (std::size_t i = 0; i != buckets::count - 1; ++i) {
    EXPECT_EQ(buckets::index(buckets::upper(i)), i);
    EXPECT_EQ(buckets::index(buckets::upper(i) + 1), i + 1);
  }
  EXPECT_EQ(buckets::index(UINT64_MAX), buckets::count - 1);
}

TEST(histogram, a_quantile_is_at_most_a_quarter_too_long) {
  for (auto time = 1ns; time < 1h; time = time * 3 + 1ns) {
    histogram h;
    h.add(time);
    h.add(100h);  // so that the longest does not tell
    EXPECT_GE(h.p50(), time);
    EXPECT_LE(h.p50(), time + time / 4);
  }
}

TEST(histogram, quantiles_are_of_all_that_was_added) {
  histogram h;
  EXPECT_EQ(h.p99(), 0ns);
  EXPECT_EQ(h.mean(), 0ns);
  for (int i = 0; i != 98; ++i)
    h.add(4ns);
  h.add(6ns);
  h.add(7ns);
  EXPECT_EQ(h.count(), 100u);
  EXPECT_EQ(h.p50(), 4ns);
  EXPECT_EQ(h.p99(), 6ns);
  EXPECT_EQ(h.quantile(0), 4ns);
  EXPECT_EQ(h.quantile(1), 7ns);
  EXPECT_EQ(h.max(), 7ns);
  EXPECT_EQ(h.mean(), 4ns);
}

TEST(histogram, beyond_the_last_bucket_the_longest_is_told) {
  histogram h;
  h.add(100h);
  EXPECT_EQ(h.p50(), std::chrono::nanoseconds(100h));
}

TEST(histogram, the_difference_is_what_came_between) {
  histogram earlier;
  earlier.add(1ms);
  histogram later = earlier;
  later.add(5ns);
  const histogram between = later - earlier;
  EXPECT_EQ(between.count(), 1u);
  EXPECT_EQ(between.mean(), 5ns);
  EXPECT_EQ(between.p50(), 5ns);
}

}  // namespace
