// SPDX-License-Identifier: BSL-1.0
#include <weft/io/dynamic_buffer.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/streambuf.hpp>

namespace {

template <class T>
class dynamic_buffer : public testing::Test {
 protected:
  static T content(const char* text) { return T(text, text + std::strlen(text)); }
};
using containers = testing::Types<std::string, std::vector<char>, std::vector<unsigned char>>;
TYPED_TEST_SUITE(dynamic_buffer, containers);

weft::const_buffer text(const char* chars) {
  return {chars, std::strlen(chars)};
}

TYPED_TEST(dynamic_buffer, meets_both_versions_of_the_requirements) {
  using type = decltype(weft::dynamic_buffer(std::declval<TypeParam&>()));
  EXPECT_TRUE(weft::is_dynamic_buffer<type>::value);
  EXPECT_TRUE(weft::is_dynamic_buffer_v1<type>::value);
  EXPECT_TRUE(weft::is_dynamic_buffer_v2<type>::value);
  EXPECT_FALSE(weft::is_dynamic_buffer_v1<TypeParam>::value);
  EXPECT_FALSE(weft::is_dynamic_buffer_v2<TypeParam>::value);
}

TYPED_TEST(dynamic_buffer, v1_moves_committed_bytes_to_the_input) {
  TypeParam storage = this->content("ab");
  auto b = weft::dynamic_buffer(storage, 100);
  EXPECT_EQ(b.size(), 2u);
  const auto output = b.prepare(10);
  EXPECT_EQ(output.size(), 10u);
  EXPECT_EQ(b.size(), 2u) << "the output sequence is not part of the input";
  EXPECT_EQ(b.data().size(), 2u);
  weft::buffer_copy(output, text("cdef"));
  b.commit(4);
  EXPECT_EQ(storage, this->content("abcdef"));
  b.consume(3);
  EXPECT_EQ(storage, this->content("def"));
  EXPECT_EQ(b.data().size(), 3u);
}

TYPED_TEST(dynamic_buffer, v1_commit_of_too_much_takes_the_whole_output) {
  TypeParam storage;
  auto b = weft::dynamic_buffer(storage);
  b.prepare(3);
  b.commit(50);
  EXPECT_EQ(storage.size(), 3u);
  b.commit(1);
  EXPECT_EQ(storage.size(), 3u) << "without prepare there is no output sequence";
}

TYPED_TEST(dynamic_buffer, v1_second_prepare_replaces_the_first) {
  TypeParam storage = this->content("x");
  auto b = weft::dynamic_buffer(storage);
  b.prepare(50);
  EXPECT_EQ(b.prepare(2).size(), 2u);
  b.commit(50);
  EXPECT_EQ(storage.size(), 3u);
}

TYPED_TEST(dynamic_buffer, v2_grows_shrinks_and_consumes_the_memory) {
  TypeParam storage = this->content("abc");
  auto b = weft::dynamic_buffer(storage);
  b.grow(3);
  EXPECT_EQ(b.size(), 6u);
  weft::buffer_copy(b.data(3, 100), text("xyz"));
  EXPECT_EQ(storage, this->content("abcxyz"));
  EXPECT_EQ(b.data(4, 1).size(), 1u);
  EXPECT_EQ(std::as_const(b).data(4, 9).size(), 2u);
  EXPECT_EQ(b.data(7, 9).size(), 0u);
  b.shrink(2);
  b.consume(1);
  EXPECT_EQ(storage, this->content("bcx"));
  b.shrink(100);
  EXPECT_EQ(b.size(), 0u);
  b.consume(100);
  EXPECT_EQ(b.size(), 0u);
}

TYPED_TEST(dynamic_buffer, exceeding_the_maximum_throws_and_changes_nothing) {
  TypeParam storage = this->content("abcdef");
  auto b = weft::dynamic_buffer(storage, 8);
  EXPECT_EQ(b.max_size(), 8u);
  EXPECT_THROW(b.grow(3), std::length_error);
  EXPECT_THROW(b.prepare(3), std::length_error);
  EXPECT_THROW(b.grow(static_cast<std::size_t>(-1)), std::length_error);
  EXPECT_EQ(storage, this->content("abcdef"));
  b.grow(2);
  EXPECT_EQ(b.size(), 8u);
  EXPECT_LE(b.capacity(), 8u);
}

TYPED_TEST(dynamic_buffer, container_longer_than_the_maximum_shows_only_that_much) {
  TypeParam storage = this->content("abcdef");
  auto b = weft::dynamic_buffer(storage, 4);
  EXPECT_EQ(b.size(), 4u);
  EXPECT_EQ(b.data().size(), 4u);
  EXPECT_EQ(b.data(0, 100).size(), 4u);
  EXPECT_THROW(b.grow(1), std::length_error);
}

// A third party's dynamic buffers: one of each version.
struct ring_v1 {
  using const_buffers_type = std::vector<weft::const_buffer>;
  using mutable_buffers_type = std::vector<weft::mutable_buffer>;
  ring_v1(ring_v1&&) = default;
  std::size_t size() const;
  std::size_t max_size() const;
  std::size_t capacity() const;
  const_buffers_type data() const;
  mutable_buffers_type prepare(std::size_t);
  void commit(std::size_t);
  void consume(std::size_t);
};

TEST(dynamic_buffer_traits, tell_the_versions_apart) {
  static_assert(weft::is_dynamic_buffer_v1<ring_v1>::value);
  static_assert(!weft::is_dynamic_buffer_v2<ring_v1>::value);
  static_assert(weft::is_dynamic_buffer_v1<weft::basic_streambuf_ref<>>::value);
  static_assert(!weft::is_dynamic_buffer_v2<weft::basic_streambuf_ref<>>::value);
  static_assert(!weft::is_dynamic_buffer<weft::streambuf>::value, "it cannot be moved");
  static_assert(!weft::is_dynamic_buffer<weft::mutable_buffer>::value);
  static_assert(!weft::is_dynamic_buffer<int>::value);
}

}  // namespace
