// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/io/buffer_sequence.hpp>

namespace {

template <class T>
concept makes_buffer = requires(T&& t) { weft::buffer(std::forward<T>(t)); };

template <class Expected, class T>
constexpr bool makes = std::is_same_v<decltype(weft::buffer(std::declval<T>())), Expected>;

TEST(buffer, pointer_and_size_are_kept) {
  char data[8];
  const weft::mutable_buffer b = weft::buffer(static_cast<void*>(data), 5);
  EXPECT_EQ(b.data(), data);
  EXPECT_EQ(b.size(), 5u);
  const weft::const_buffer c = weft::buffer(static_cast<const void*>(data), 3);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.size(), 3u);
}

TEST(buffer, default_constructed_is_empty) {
  EXPECT_EQ(weft::mutable_buffer().data(), nullptr);
  EXPECT_EQ(weft::mutable_buffer().size(), 0u);
  EXPECT_EQ(weft::const_buffer().data(), nullptr);
  EXPECT_EQ(weft::const_buffer().size(), 0u);
}

TEST(buffer, advancing_stops_at_the_end) {
  char data[8];
  weft::mutable_buffer b(data, 8);
  b += 3;
  EXPECT_EQ(b.data(), data + 3);
  EXPECT_EQ(b.size(), 5u);
  EXPECT_EQ((b + 2).data(), data + 5);
  EXPECT_EQ((2 + b).size(), 3u);
  b += 100;
  EXPECT_EQ(b.data(), data + 8);
  EXPECT_EQ(b.size(), 0u);
  const weft::const_buffer c(data, 8);
  EXPECT_EQ((c + 3).data(), data + 3);
  EXPECT_EQ((9 + c).size(), 0u);
}

TEST(buffer, limit_never_enlarges) {
  char data[8];
  EXPECT_EQ(weft::buffer(data, 5).size(), 5u);
  EXPECT_EQ(weft::buffer(data, 50).size(), 8u);
  EXPECT_EQ(weft::buffer(weft::buffer(data), 4).size(), 4u);
  EXPECT_EQ(weft::buffer(weft::const_buffer(data, 8), 40).size(), 8u);
  std::vector<std::uint32_t> words(4);
  EXPECT_EQ(weft::buffer(words, 6).size(), 6u);
}

TEST(buffer, sizes_count_bytes_not_elements) {
  std::uint32_t plain[3];
  std::array<std::uint16_t, 5> array;
  std::vector<std::uint64_t> vector(7);
  std::u16string string(9, u'x');
  EXPECT_EQ(weft::buffer(plain).size(), 12u);
  EXPECT_EQ(weft::buffer(array).size(), 10u);
  EXPECT_EQ(weft::buffer(vector).size(), 56u);
  EXPECT_EQ(weft::buffer(vector).data(), vector.data());
  EXPECT_EQ(weft::buffer(string).size(), 18u);
  EXPECT_EQ(weft::buffer("abc").size(), 4u);
  EXPECT_EQ(weft::buffer(std::string_view("abc")).size(), 3u);
}

TEST(buffer, empty_containers_make_empty_buffers) {
  std::vector<int> vector;
  std::string string;
  std::array<char, 0> array;
  EXPECT_EQ(weft::buffer(vector).size(), 0u);
  EXPECT_EQ(weft::buffer(string).size(), 0u);
  EXPECT_EQ(weft::buffer(array).size(), 0u);
  EXPECT_EQ(weft::buffer(std::string_view()).size(), 0u);
}

TEST(buffer, mutability_follows_the_elements) {
  using weft::const_buffer;
  using weft::mutable_buffer;
  static_assert(makes<mutable_buffer, char(&)[4]>);
  static_assert(makes<const_buffer, const char(&)[4]>);
  static_assert(makes<mutable_buffer, std::array<char, 4>&>);
  static_assert(makes<const_buffer, const std::array<char, 4>&>);
  static_assert(makes<const_buffer, std::array<const char, 4>&>);
  static_assert(makes<mutable_buffer, std::vector<int>&>);
  static_assert(makes<const_buffer, const std::vector<int>&>);
  static_assert(makes<mutable_buffer, std::string&>);
  static_assert(makes<const_buffer, const std::string&>);
  static_assert(makes<const_buffer, std::string>);
  static_assert(makes<const_buffer, std::string_view>);
  static_assert(makes<mutable_buffer, std::span<char>>);
  static_assert(makes<mutable_buffer, const std::span<std::byte, 4>&>);
  static_assert(makes<const_buffer, std::span<const char>>);
  static_assert(makes<mutable_buffer, std::span<int>>);
  static_assert(makes<mutable_buffer, mutable_buffer>);
  static_assert(makes<const_buffer, const_buffer>);
}

TEST(buffer, what_is_not_plain_memory_is_refused) {
  static_assert(!makes_buffer<std::vector<std::string>&>);
  static_assert(!makes_buffer<std::vector<bool>&>);
  static_assert(!makes_buffer<std::array<weft::const_buffer, 2>&>);
  static_assert(!makes_buffer<std::vector<weft::mutable_buffer>&>);
  static_assert(!makes_buffer<int>);
  static_assert(!std::is_convertible_v<weft::const_buffer, weft::mutable_buffer>);
  static_assert(!std::is_convertible_v<std::span<const char>, weft::mutable_buffer>);
  static_assert(!std::is_convertible_v<std::span<int>, weft::mutable_buffer>);
  static_assert(!std::is_convertible_v<std::string, weft::const_buffer>);
}

TEST(buffer, byte_spans_convert_implicitly) {
  std::array<std::byte, 6> data;
  const weft::mutable_buffer m = std::span<std::byte>(data);
  const weft::const_buffer c = std::span<const std::byte, 6>(data);
  EXPECT_EQ(m.data(), data.data());
  EXPECT_EQ(c.size(), 6u);
}

struct third_party_block {
  using iterator = char*;
  char bytes[10];
  char* begin() { return bytes; }
  char* end() { return bytes + 10; }
  const char* begin() const { return bytes; }
  const char* end() const { return bytes + 10; }
};

TEST(buffer, third_party_contiguous_range_is_accepted) {
  third_party_block block;
  static_assert(makes<weft::mutable_buffer, third_party_block&>);
  static_assert(makes<weft::const_buffer, const third_party_block&>);
  EXPECT_EQ(weft::buffer(block).data(), block.bytes);
  EXPECT_EQ(weft::buffer(block).size(), 10u);
}

}  // namespace
