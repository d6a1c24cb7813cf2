// SPDX-License-Identifier: BSL-1.0
#include <weft/net/address_range.hpp>

#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using weft::ip::address_v4;
using weft::ip::address_v4_iterator;
using weft::ip::address_v4_range;
using weft::ip::address_v6;
using weft::ip::address_v6_iterator;
using weft::ip::address_v6_range;
using weft::ip::make_address_v4;
using weft::ip::make_address_v6;

TEST(address_iterator, steps_carry_over_byte_bounds) {
  address_v4_iterator v4(make_address_v4("10.0.0.255"));
  EXPECT_EQ((++v4)->to_string(), "10.0.1.0");
  EXPECT_EQ((--v4)->to_string(), "10.0.0.255");
  address_v6_iterator v6(make_address_v6("1::ffff:ffff"));
  EXPECT_EQ((++v6)->to_string(), "1::1:0:0");
  EXPECT_EQ((--v6)->to_string(), "1::ffff:ffff");
}

TEST(address_iterator, post_steps_return_the_place_before) {
  address_v4_iterator it(make_address_v4("1.0.0.1"));
  EXPECT_EQ((it++)->to_string(), "1.0.0.1");
  EXPECT_EQ((it--)->to_string(), "1.0.0.2");
  EXPECT_EQ(it->to_string(), "1.0.0.1");
}

TEST(address_iterator, address_space_wraps_around) {
  address_v4_iterator v4(address_v4::broadcast());
  EXPECT_EQ(*++v4, address_v4());
  EXPECT_EQ(*--v4, address_v4::broadcast());
  address_v6_iterator v6{address_v6()};
  EXPECT_EQ((--v6)->to_string(), "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
  EXPECT_EQ(*++v6, address_v6());
}

TEST(address_iterator, scope_is_kept) {
  address_v6_iterator it(make_address_v6("fe80::1%3"));
  EXPECT_EQ((++it)->scope_id(), 3u);
  EXPECT_EQ((--it)->scope_id(), 3u);
}

TEST(address_range, default_is_empty) {
  EXPECT_TRUE(address_v4_range().empty());
  EXPECT_EQ(address_v4_range().size(), 0u);
  EXPECT_TRUE(address_v6_range().empty());
  EXPECT_EQ(address_v4_range().begin(), address_v4_range().end());
}

TEST(address_range, visits_every_address_once_in_order) {
  const address_v4_range range(make_address_v4("10.0.0.254"), make_address_v4("10.0.1.2"));
  std::vector<std::string> seen;
  for (const address_v4& a : range)
    seen.push_back(a.to_string());
  EXPECT_EQ(seen, (std::vector<std::string>{"10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1"}));
  EXPECT_EQ(range.size(), 4u);
}

TEST(address_range, find_gives_the_place_or_the_end) {
  const address_v4_range v4(make_address_v4("10.0.0.1"), make_address_v4("10.0.0.4"));
  EXPECT_EQ(v4.find(make_address_v4("10.0.0.1")), v4.begin());
  EXPECT_EQ(v4.find(make_address_v4("10.0.0.3"))->to_string(), "10.0.0.3");
  EXPECT_EQ(v4.find(make_address_v4("10.0.0.4")), v4.end());
  EXPECT_EQ(v4.find(make_address_v4("10.0.0.0")), v4.end());
  const address_v6_range v6(make_address_v6("1::1"), make_address_v6("1::4"));
  EXPECT_EQ(v6.find(make_address_v6("1::2"))->to_string(), "1::2");
  EXPECT_EQ(v6.find(make_address_v6("1::5")), v6.end());
}

TEST(address_range, find_does_not_take_an_address_of_another_scope) {
  const address_v6_range range(make_address_v6("fe80::1%1"), make_address_v6("fe80::9%1"));
  EXPECT_EQ(range.find(make_address_v6("fe80::5%2")), range.end());
  EXPECT_NE(range.find(make_address_v6("fe80::5%1")), range.end());
}

TEST(address_range, may_end_with_the_last_address_of_all) {
  const address_v4_range range(make_address_v4("255.255.255.254"), address_v4());
  EXPECT_EQ(std::distance(range.begin(), range.end()), 2);
  EXPECT_EQ(range.size(), 2u);
  EXPECT_NE(range.find(address_v4::broadcast()), range.end());
  EXPECT_EQ(range.find(address_v4::loopback()), range.end());
}

}  // namespace
