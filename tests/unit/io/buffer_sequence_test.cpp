// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer_sequence.hpp>

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <span>
#include <string>
#include <vector>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/buffer_sequence_adapter.hpp>

// Types of a third party: weft knows nothing of them.
namespace third_party {

struct block {  // converts to a buffer
  char* data;
  std::size_t size;
  operator weft::mutable_buffer() const { return {data, size}; }
};

struct both_ways {  // converts to either
  char* data;
  std::size_t size;
  operator weft::mutable_buffer() const { return {data, size}; }
  operator weft::const_buffer() const { return {data, size}; }
};

struct tagged : weft::const_buffer {  // is a buffer
  using weft::const_buffer::const_buffer;
  int tag = 0;
};

class message {  // is a range of its own buffers
 public:
  message(std::string head, std::string body) : parts_{head, body} {}
  struct part {
    std::string text;
    part(std::string t) : text(std::move(t)) {}
    operator weft::const_buffer() const { return weft::buffer(text); }
  };
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

 private:
  std::list<part> parts_;
};

}  // namespace third_party

namespace {

template <class T>
constexpr bool is_const = weft::is_const_buffer_sequence<T>::value;
template <class T>
constexpr bool is_mutable = weft::is_mutable_buffer_sequence<T>::value;
template <class T>
constexpr bool is_single = weft::detail::is_single_buffer<T>;
template <class T>
using write_adapter = weft::detail::buffer_sequence_adapter<weft::const_buffer, T>;
template <class T>
using read_adapter = weft::detail::buffer_sequence_adapter<weft::mutable_buffer, T>;

TEST(buffer_sequence, traits_tell_reading_from_writing) {
  static_assert(is_mutable<weft::mutable_buffer> && is_const<weft::mutable_buffer>);
  static_assert(!is_mutable<weft::const_buffer> && is_const<weft::const_buffer>);
  static_assert(is_mutable<std::vector<weft::mutable_buffer>>);
  static_assert(is_const<std::vector<weft::mutable_buffer>>);
  static_assert(!is_mutable<std::list<weft::const_buffer>>);
  static_assert(is_const<std::list<weft::const_buffer>>);
  static_assert(is_mutable<std::array<weft::mutable_buffer, 3>>);
  static_assert(is_mutable<std::span<char>> && is_const<std::span<char>>);
  static_assert(!is_mutable<std::span<const char>> && is_const<std::span<const char>>);
  static_assert(is_mutable<std::vector<std::span<char>>>);
  static_assert(!is_const<std::string> && !is_const<std::vector<char>> && !is_const<int>);
  static_assert(!is_const<weft::const_buffer*>);
}

TEST(buffer_sequence, third_party_types_join_without_an_edit) {
  static_assert(is_mutable<third_party::block> && is_const<third_party::block>);
  static_assert(is_mutable<third_party::both_ways> && is_const<third_party::both_ways>);
  static_assert(!is_mutable<third_party::tagged> && is_const<third_party::tagged>);
  static_assert(!is_mutable<third_party::message> && is_const<third_party::message>);
  static_assert(is_const<std::vector<third_party::block>>);
  char data[7];
  EXPECT_EQ(weft::buffer_size(third_party::block{data, 7}), 7u);
  EXPECT_EQ(weft::buffer_size(third_party::both_ways{data, 7}), 7u);
  EXPECT_EQ(weft::buffer_size(third_party::tagged(data, 6)), 6u);
  EXPECT_EQ(weft::buffer_size(third_party::message("head", "a body")), 10u);
  EXPECT_EQ(weft::buffer_size(std::vector<third_party::block>{{data, 3}, {data, 2}}), 5u);
}

TEST(buffer_sequence, single_buffers_are_known_by_type) {
  static_assert(is_single<weft::mutable_buffer> && is_single<weft::const_buffer>);
  static_assert(is_single<std::span<char>> && is_single<third_party::block>);
  static_assert(is_single<third_party::tagged>);
  static_assert(is_single<std::array<weft::const_buffer, 1>>);
  static_assert(!is_single<std::array<weft::const_buffer, 2>>);
  static_assert(!is_single<std::vector<weft::const_buffer>>);
  static_assert(!is_single<third_party::message>);
}

TEST(buffer_sequence, begin_and_end_delimit_the_buffers) {
  char data[4];
  const weft::mutable_buffer b(data, 4);
  EXPECT_EQ(weft::buffer_sequence_begin(b), &b);
  EXPECT_EQ(weft::buffer_sequence_end(b), &b + 1);
  std::vector<weft::const_buffer> sequence(3);
  EXPECT_EQ(weft::buffer_sequence_begin(sequence), sequence.begin());
  EXPECT_EQ(weft::buffer_sequence_end(sequence), sequence.end());
}

TEST(buffer_sequence, size_is_the_sum) {
  char data[10];
  EXPECT_EQ(weft::buffer_size(weft::buffer(data)), 10u);
  EXPECT_EQ(weft::buffer_size(std::vector<weft::const_buffer>()), 0u);
  EXPECT_EQ(weft::buffer_size(std::list<weft::const_buffer>{
                weft::buffer(data, 3), weft::const_buffer(), weft::buffer(data, 4)}),
            7u);
}

TEST(buffer_copy, crosses_the_boundaries_on_both_sides) {
  const std::string source = "0123456789";
  char target[10] = {};
  const std::vector<weft::const_buffer> from{
      weft::buffer(source.data(), 3), {}, weft::buffer(source.data() + 3, 7)};
  const std::list<weft::mutable_buffer> to{
      weft::buffer(target, 5), {}, weft::buffer(target + 5, 5)};
  EXPECT_EQ(weft::buffer_copy(to, from), 10u);
  EXPECT_EQ(std::string(target, 10), source);
}

TEST(buffer_copy, stops_at_the_shortest_of_target_source_and_limit) {
  char target[8] = {};
  EXPECT_EQ(weft::buffer_copy(weft::buffer(target, 4), weft::const_buffer("abcdefgh", 8)), 4u);
  EXPECT_EQ(weft::buffer_copy(weft::buffer(target), weft::const_buffer("xy", 2)), 2u);
  EXPECT_EQ(std::string(target, 5), std::string("xycd\0", 5));
  EXPECT_EQ(weft::buffer_copy(weft::buffer(target), weft::const_buffer("12345678", 8), 1), 1u);
  EXPECT_EQ(target[0], '1');
  EXPECT_EQ(target[1], 'y');
  EXPECT_EQ(weft::buffer_copy(weft::buffer(target), weft::const_buffer("12345678", 8), 0), 0u);
  EXPECT_EQ(weft::buffer_copy(weft::mutable_buffer(), weft::const_buffer()), 0u);
}

TEST(buffer_sequence_adapter, lists_the_buffers_that_hold_bytes) {
  char data[10];
  const std::vector<weft::mutable_buffer> sequence{
      weft::buffer(data, 2), {}, weft::buffer(data + 5, 3)};
  const read_adapter<std::vector<weft::mutable_buffer>> adapter(sequence);
  ASSERT_EQ(adapter.count(), 2u);
  EXPECT_EQ(adapter.vectors()[0].base, data);
  EXPECT_EQ(adapter.vectors()[1].base, data + 5);
  EXPECT_EQ(adapter.vectors()[1].size, 3u);
  EXPECT_EQ(adapter.total_size(), 5u);
  EXPECT_FALSE(adapter.all_empty());
}

TEST(buffer_sequence_adapter, takes_at_most_the_bounded_number) {
  char data[2];
  const std::vector<weft::const_buffer> sequence(100, weft::buffer(data));
  const write_adapter<std::vector<weft::const_buffer>> adapter(sequence);
  EXPECT_EQ(adapter.count(), weft::detail::max_io_vectors);
  EXPECT_EQ(adapter.total_size(), 2 * weft::detail::max_io_vectors);
  static_assert(write_adapter<std::array<weft::const_buffer, 3>>::capacity == 3);
  static_assert(write_adapter<std::array<weft::const_buffer, 100>>::capacity == 64);
  static_assert(write_adapter<weft::const_buffer>::capacity == 1);
}

TEST(buffer_sequence_adapter, many_empty_buffers_do_not_hide_the_bytes_behind_them) {
  char data[2];
  std::vector<weft::const_buffer> sequence(100);
  sequence.push_back(weft::buffer(data));
  EXPECT_EQ(write_adapter<std::vector<weft::const_buffer>>(sequence).total_size(), 2u);
  EXPECT_EQ(write_adapter<std::vector<weft::const_buffer>>::first(sequence).data(), data);
  EXPECT_FALSE(write_adapter<std::vector<weft::const_buffer>>::all_empty(sequence));
}

TEST(buffer_sequence_adapter, all_empty_means_no_bytes) {
  const std::vector<weft::const_buffer> none;
  const std::vector<weft::const_buffer> blanks(3);
  using adapter = write_adapter<std::vector<weft::const_buffer>>;
  EXPECT_TRUE(adapter(none).all_empty());
  EXPECT_TRUE(adapter(blanks).all_empty());
  EXPECT_TRUE(adapter::all_empty(none));
  EXPECT_TRUE(adapter::all_empty(blanks));
  EXPECT_TRUE(write_adapter<weft::const_buffer>::all_empty({}));
  const std::array<weft::const_buffer, 0> zero{};
  using zero_adapter = write_adapter<std::array<weft::const_buffer, 0>>;
  EXPECT_TRUE(zero_adapter(zero).all_empty());
}

}  // namespace
