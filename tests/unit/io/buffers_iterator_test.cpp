// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffers_iterator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <list>
#include <string>
#include <vector>

namespace {

using buffer_list = std::list<weft::const_buffer>;

/// "hello, world" in pieces, with empty buffers at either end and in between.
buffer_list pieces() {
  return {{}, {"hel", 3}, {"lo", 2}, {}, {}, {", worl", 6}, {"d", 1}, {}};
}
const std::string text = "hello, world";

TEST(buffers_iterator, walks_all_bytes_forwards_and_backwards) {
  const buffer_list sequence = pieces();
  EXPECT_EQ(std::string(buffers_begin(sequence), buffers_end(sequence)), text);
  std::string reversed;
  for (auto it = buffers_end(sequence); it != buffers_begin(sequence);)
    reversed += *--it;
  EXPECT_EQ(reversed, std::string(text.rbegin(), text.rend()));
}

TEST(buffers_iterator, every_jump_lands_on_its_byte) {
  const buffer_list sequence = pieces();
  const auto begin = buffers_begin(sequence);
  const auto size = static_cast<std::ptrdiff_t>(text.size());
  for (std::ptrdiff_t from = 0; from <= size; ++from)
    for (std::ptrdiff_t to = 0; to <= size; ++to) {
      const auto a = begin + from;
      const auto b = a + (to - from);
      EXPECT_EQ(b - a, to - from);
      EXPECT_EQ(b - (to - from), a);
      EXPECT_EQ(a < b, from < to);
      EXPECT_EQ(a >= b, from >= to);
      EXPECT_EQ(a == b, from == to);
      if (to != size) {
        EXPECT_EQ(*b, text[static_cast<std::size_t>(to)]);
        EXPECT_EQ(a[to - from], *b);
      } else {
        EXPECT_EQ(b, buffers_end(sequence));
      }
    }
}

TEST(buffers_iterator, works_with_algorithms_on_one_buffer_and_on_many) {
  const buffer_list many = pieces();
  const weft::const_buffer one("hello, world", 12);
  EXPECT_EQ(
      std::find(weft::buffers_begin(one), weft::buffers_end(one), 'w') - weft::buffers_begin(one),
      7);
  EXPECT_TRUE(std::equal(buffers_begin(one), buffers_end(one), buffers_begin(many)));
  static_assert(std::random_access_iterator<weft::buffers_iterator<weft::const_buffer>>);
  static_assert(std::random_access_iterator<weft::buffers_iterator<buffer_list>>);
}

TEST(buffers_iterator, writes_through_a_mutable_sequence) {
  std::string a = "cab";
  std::string b = "fed";
  const std::array<weft::mutable_buffer, 2> sequence{weft::buffer(a), weft::buffer(b)};
  std::sort(buffers_begin(sequence), buffers_end(sequence));
  EXPECT_EQ(a + b, "abcdef");
  using iterator = weft::buffers_iterator<std::array<weft::mutable_buffer, 2>, unsigned char>;
  *iterator::begin(sequence) = 'A';
  EXPECT_EQ(a, "Abc");
  static_assert(std::is_same_v<weft::buffers_iterator<buffer_list>::reference, const char&>);
  static_assert(std::is_same_v<weft::buffers_iterator<weft::mutable_buffer>::reference, char&>);
}

TEST(buffers_iterator, empty_sequence_begins_at_its_end) {
  const std::vector<weft::const_buffer> none;
  const std::vector<weft::const_buffer> blanks(3);
  const weft::mutable_buffer blank;
  EXPECT_EQ(buffers_begin(none), buffers_end(none));
  EXPECT_EQ(buffers_begin(blanks), buffers_end(blanks));
  EXPECT_EQ(buffers_begin(blank), buffers_end(blank));
}

TEST(buffers_iterator, over_one_buffer_outlives_the_buffer_object) {
  const std::string owner = "abc";
  auto it = weft::buffers_begin(weft::const_buffer(weft::buffer(owner)));
  EXPECT_EQ(*it++, 'a');
  EXPECT_EQ(*it, 'b');
}

}  // namespace
