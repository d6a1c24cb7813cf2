// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffer_registration.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>

#include "unit/support/manual_context.hpp"

namespace {

using weft_test::manual_context;

TEST(registered_buffer, default_constructed_names_nothing) {
  const weft::mutable_registered_buffer m;
  const weft::const_registered_buffer c;
  EXPECT_EQ(m.size(), 0u);
  EXPECT_EQ(c.data(), nullptr);
  EXPECT_EQ(m.id(), weft::registered_buffer_id());
  EXPECT_EQ(c.id().native_handle(), -1);
}

TEST(registered_buffer, is_a_buffer_sequence_of_one) {
  using weft::is_const_buffer_sequence;
  using weft::is_mutable_buffer_sequence;
  static_assert(is_mutable_buffer_sequence<weft::mutable_registered_buffer>::value);
  static_assert(is_const_buffer_sequence<weft::mutable_registered_buffer>::value);
  static_assert(is_const_buffer_sequence<weft::const_registered_buffer>::value);
  static_assert(!is_mutable_buffer_sequence<weft::const_registered_buffer>::value);
  static_assert(weft::detail::is_single_buffer<weft::mutable_registered_buffer>);
  static_assert(weft::detail::is_single_buffer<weft::const_registered_buffer>);
}

TEST(buffer_registration, numbers_the_buffers_of_the_sequence) {
  manual_context context;
  std::string a(3, '.');
  std::string b(5, '.');
  const std::vector<weft::mutable_buffer> buffers{weft::buffer(a), weft::buffer(b)};
  auto registration = weft::register_buffers(context, buffers);
  ASSERT_EQ(registration.size(), 2u);
  EXPECT_EQ(registration.end() - registration.begin(), 2);
  EXPECT_EQ(registration[0].data(), a.data());
  EXPECT_EQ(registration.at(1).size(), 5u);
  EXPECT_EQ(registration[1].id().native_handle(), 1);
  EXPECT_NE(registration[0].id(), registration[1].id());
  EXPECT_EQ(registration.begin()->id(), registration[0].id());
}

TEST(buffer_registration, moves_and_takes_executors_and_allocators) {
  manual_context context;
  std::array<char, 8> block;
  auto first = weft::register_buffers(context.get_executor(), weft::buffer(block));
  auto second = std::move(first);
  EXPECT_EQ(second.size(), 1u);
  auto third = weft::register_buffers(context, weft::buffer(block), std::allocator<int>());
  third =
      weft::register_buffers(context.get_executor(), weft::buffer(block), std::allocator<int>());
  EXPECT_EQ(third[0].data(), block.data());
}

TEST(buffer_registration, parts_keep_the_identity) {
  manual_context context;
  std::string text = "0123456789";
  const auto registration = weft::register_buffers(context, weft::buffer(text));
  const weft::mutable_registered_buffer whole = registration[0];
  const weft::mutable_registered_buffer part = weft::buffer(whole + 2, 3);
  EXPECT_EQ(part.size(), 3u);
  EXPECT_EQ(part.data(), text.data() + 2);
  EXPECT_EQ(part.id(), whole.id());
  const weft::const_registered_buffer c = weft::buffer(1 + weft::const_registered_buffer(part), 1);
  EXPECT_EQ(c.size(), 1u);
  EXPECT_EQ(c.id(), whole.id());
  EXPECT_EQ((c + 5).size(), 0u);
  EXPECT_EQ(weft::buffer(whole).size(), 10u);
  EXPECT_EQ(weft::buffer_size(weft::buffer(c)), 1u);
  std::string copy(4, '.');
  EXPECT_EQ(weft::buffer_copy(weft::buffer(copy), part), 3u);
  EXPECT_EQ(copy, "234.");
}

/// A stream that sees of what type the buffers are.
struct watching_stream {
  int registered = 0;
  std::size_t some(const weft::registered_buffer_id&, std::size_t size) {
    ++registered;
    return size / 2 + 1;
  }
  std::size_t read_some(const weft::mutable_registered_buffer& b, weft::error_code&) {
    return some(b.id(), b.size());
  }
  std::size_t write_some(const weft::const_registered_buffer& b, weft::error_code&) {
    return some(b.id(), b.size());
  }
};

TEST(buffer_registration, algorithms_pass_registered_buffers_on_as_such) {
  manual_context context;
  std::array<char, 8> block;
  const auto registration = weft::register_buffers(context, weft::buffer(block));
  watching_stream stream;
  EXPECT_EQ(weft::read(stream, registration[0]), 8u);
  EXPECT_EQ(weft::write(stream, registration[0]), 8u);
  EXPECT_EQ(weft::write(stream, weft::const_registered_buffer(registration[0])), 8u);
  EXPECT_GT(stream.registered, 6);
}

}  // namespace
