// SPDX-License-Identifier: BSL-1.0
#include <weft/io/write.hpp>

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <ostream>
#include <string>
#include <vector>

#include <weft/io/write_at.hpp>

#include "scripted_stream.hpp"

namespace {

using weft_test::scripted_stream;

const weft::error_code broken = weft::error::broken_pipe;

TEST(write, goes_on_until_everything_is_written) {
  scripted_stream stream;
  stream.then_take(2).then_take(1).then_take(100);
  EXPECT_EQ(weft::write(stream, weft::buffer(std::string("hello, world"))), 12u);
  EXPECT_EQ(stream.written, "hello, world");
  EXPECT_EQ(stream.sizes, (std::deque<std::size_t>{12, 10, 9}));
}

TEST(write, error_in_the_middle_reports_the_bytes_before_it) {
  scripted_stream stream;
  stream.then_take(5).then(broken);
  weft::error_code ec;
  EXPECT_EQ(weft::write(stream, weft::buffer(std::string("hello, world")), ec), 5u);
  EXPECT_EQ(ec, broken);
  EXPECT_EQ(stream.written, "hello");
  stream.then(broken);
  EXPECT_THROW(weft::write(stream, weft::const_buffer("x", 1)), weft::system_error);
}

TEST(write, empty_buffers_need_no_call_of_the_stream) {
  scripted_stream stream;
  std::string nothing;
  weft::streambuf sb;
  weft::error_code ec = broken;
  EXPECT_EQ(weft::write(stream, weft::const_buffer(), ec), 0u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(weft::write(stream, std::list<weft::const_buffer>(2)), 0u);
  EXPECT_EQ(weft::write(stream, weft::dynamic_buffer(nothing)), 0u);
  EXPECT_EQ(weft::write(stream, sb), 0u);
  EXPECT_EQ(stream.calls, 0);
}

template <class Sequence>
void gather() {
  const Sequence buffers{weft::const_buffer("ab", 2), weft::const_buffer(),
                         weft::const_buffer("cdefg", 5), weft::const_buffer("h", 1)};
  scripted_stream stream;
  stream.then_take(1).then_take(3).then_take(3).then_take(9);
  EXPECT_EQ(weft::write(stream, buffers), 8u);
  EXPECT_EQ(stream.written, "abcdefgh");
}

TEST(write, gathers_from_every_kind_of_sequence) {
  gather<std::vector<weft::const_buffer>>();
  gather<std::list<weft::const_buffer>>();
  gather<std::array<weft::const_buffer, 4>>();
}

TEST(write, mutable_buffers_may_be_written_from) {
  scripted_stream stream;
  stream.then_take(9);
  std::string data = "abc";
  EXPECT_EQ(weft::write(stream, std::array<weft::mutable_buffer, 1>{weft::buffer(data)}), 3u);
  EXPECT_EQ(stream.written, "abc");
}

TEST(write, condition_ends_it_early) {
  scripted_stream stream;
  stream.then_take(4).then_take(4).then_take(4);
  const std::string data = "0123456789";
  EXPECT_EQ(weft::write(stream, weft::buffer(data), weft::transfer_at_least(5)), 8u);
  weft::error_code ec;
  EXPECT_EQ(weft::write(stream, weft::buffer(data), weft::transfer_exactly(3), ec), 3u);
  EXPECT_EQ(stream.written, "01234567012");
}

TEST(write, dynamic_buffer_loses_what_was_written) {
  scripted_stream stream;
  stream.then_take(4).then_take(3).then(broken);
  std::string data = "0123456789";
  weft::error_code ec;
  EXPECT_EQ(weft::write(stream, weft::dynamic_buffer(data), ec), 7u);
  EXPECT_EQ(ec, broken);
  EXPECT_EQ(data, "789");
  EXPECT_EQ(stream.written, "0123456");
}

TEST(write, streambuf_loses_what_was_written) {
  scripted_stream stream;
  stream.then_take(6);
  weft::streambuf sb;
  std::ostream(&sb) << "hello, world";
  EXPECT_EQ(weft::write(stream, sb, weft::transfer_at_least(1)), 6u);
  EXPECT_EQ(sb.size(), 6u);
  stream.then_take(6);
  EXPECT_EQ(weft::write(stream, weft::basic_streambuf_ref<>(sb)), 6u);
  EXPECT_EQ(stream.written, "hello, world");
  EXPECT_EQ(sb.size(), 0u);
}

TEST(write_at, offset_advances_with_the_bytes_written) {
  scripted_stream device;
  device.then_take(2).then_take(3).then_take(9);
  EXPECT_EQ(weft::write_at(device, 50, weft::const_buffer("abcdef", 6)), 6u);
  EXPECT_EQ(device.written, "abcdef");
  EXPECT_EQ(device.offsets, (std::deque<std::uint64_t>{50, 52, 55}));
}

TEST(write_at, streambuf_and_condition_and_error) {
  scripted_stream device;
  device.then_take(2).then(broken);
  weft::streambuf sb;
  std::ostream(&sb) << "abcdef";
  weft::error_code ec;
  EXPECT_EQ(weft::write_at(device, 0, sb, weft::transfer_all(), ec), 2u);
  EXPECT_EQ(ec, broken);
  EXPECT_EQ(sb.size(), 4u);
  device.then_take(9);
  EXPECT_EQ(weft::write_at(device, 2, sb, ec), 4u);
  EXPECT_EQ(weft::write_at(device, 0, weft::const_buffer(), weft::transfer_all()), 0u);
  EXPECT_THROW(weft::write_at(device, 0, weft::const_buffer("x", 1)), weft::system_error);
}

}  // namespace
