// SPDX-License-Identifier: BSL-1.0
#include <weft/io/read.hpp>

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <string>
#include <vector>

#include <weft/io/read_at.hpp>

#include "scripted_stream.hpp"

namespace {

using weft_test::scripted_stream;

const weft::error_code reset = weft::error::connection_reset;
const weft::error_code eof = weft::error::eof;

TEST(read, goes_on_until_the_buffer_is_full) {
  scripted_stream stream;
  stream.then("he").then("l").then("lo, world");
  std::string data(6, '.');
  EXPECT_EQ(weft::read(stream, weft::buffer(data)), 6u);
  EXPECT_EQ(data, "hello,");
  EXPECT_EQ(stream.calls, 3);
}

TEST(read, error_in_the_middle_reports_the_bytes_before_it) {
  scripted_stream stream;
  stream.then("abc").then(reset).then("def");
  std::string data(6, '.');
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, weft::buffer(data), ec), 3u);
  EXPECT_EQ(ec, reset);
  EXPECT_EQ(data, "abc...");
}

TEST(read, throwing_form_throws_the_stream_error) {
  scripted_stream stream;
  stream.then("abc");
  std::string data(6, '.');
  try {
    weft::read(stream, weft::buffer(data));
    FAIL();
  } catch (const weft::system_error& e) {
    EXPECT_EQ(e.code(), eof);
  }
}

TEST(read, earlier_error_code_is_overwritten) {
  scripted_stream stream;
  stream.then("abc");
  char data[3];
  weft::error_code ec = reset;
  EXPECT_EQ(weft::read(stream, weft::buffer(data), ec), 3u);
  EXPECT_FALSE(ec);
}

TEST(read, empty_buffers_need_no_call_of_the_stream) {
  scripted_stream stream;
  weft::error_code ec = reset;
  EXPECT_EQ(weft::read(stream, weft::mutable_buffer(), ec), 0u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(weft::read(stream, std::vector<weft::mutable_buffer>(3), ec), 0u);
  EXPECT_EQ(weft::read(stream, std::vector<weft::mutable_buffer>(), ec), 0u);
  EXPECT_EQ(stream.calls, 0);
}

TEST(read, stream_without_progress_is_not_asked_forever) {
  scripted_stream stream;
  stream.then("ab").then("").then("cd");
  char data[4];
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, weft::buffer(data), ec), 2u);
  EXPECT_FALSE(ec);
}

template <class Sequence>
void scatter() {
  std::string a(3, '.');
  std::string b(4, '.');
  std::string c(2, '.');
  const Sequence buffers{weft::buffer(a), weft::mutable_buffer(), weft::buffer(b), weft::buffer(c)};
  scripted_stream stream;
  stream.then("0").then("1234").then("56").then("78");
  EXPECT_EQ(weft::read(stream, buffers), 9u);
  EXPECT_EQ(a + b + c, "012345678");
  EXPECT_EQ(stream.sizes, (std::deque<std::size_t>{9, 8, 4, 2}));
}

TEST(read, scatters_over_every_kind_of_sequence) {
  scatter<std::vector<weft::mutable_buffer>>();
  scatter<std::list<weft::mutable_buffer>>();
  scatter<std::array<weft::mutable_buffer, 4>>();
}

TEST(read, sequence_longer_than_one_call_takes_is_read_to_its_end) {
  std::string data(100, '.');
  std::vector<weft::mutable_buffer> buffers;
  for (char& c : data)
    buffers.push_back(weft::buffer(&c, 1));
  scripted_stream stream;
  const std::string sent(100, 'x');
  stream.then(sent);
  EXPECT_EQ(weft::read(stream, buffers), 100u);
  EXPECT_EQ(data, sent);
}

TEST(read, at_least_stops_when_the_minimum_is_there) {
  scripted_stream stream;
  stream.then("abc").then("def").then("ghi");
  std::string data(9, '.');
  EXPECT_EQ(weft::read(stream, weft::buffer(data), weft::transfer_at_least(4)), 6u);
  EXPECT_EQ(data, "abcdef...");
}

TEST(read, exactly_takes_no_byte_more) {
  scripted_stream stream;
  stream.then("abc").then("def").then("ghi");
  std::string data(9, '.');
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, weft::buffer(data), weft::transfer_exactly(4), ec), 4u);
  EXPECT_EQ(data, "abcd.....");
  EXPECT_EQ(stream.sizes, (std::deque<std::size_t>{4, 1}));
  EXPECT_EQ(weft::read(stream, weft::buffer(data), weft::transfer_exactly(0), ec), 0u);
  EXPECT_EQ(stream.calls, 2);
}

TEST(read, user_condition_hears_each_step_and_limits_the_next) {
  scripted_stream stream;
  stream.then("abcdef").then(reset);
  std::vector<std::pair<weft::error_code, std::size_t>> heard;
  std::string data(9, '.');
  weft::error_code ec;
  const auto condition = [&](const weft::error_code& e, std::size_t n) -> std::size_t {
    heard.emplace_back(e, n);
    return e ? 0 : 4;
  };
  EXPECT_EQ(weft::read(stream, weft::buffer(data), condition, ec), 6u);
  EXPECT_EQ(ec, reset);
  const std::vector<std::pair<weft::error_code, std::size_t>> expected{
      {{}, 0}, {{}, 4}, {{}, 6}, {reset, 6}};
  EXPECT_EQ(heard, expected);
  EXPECT_EQ(stream.sizes, (std::deque<std::size_t>{4, 4, 3}));
}

TEST(read, dynamic_buffer_takes_everything_until_end_of_file) {
  scripted_stream stream;
  const std::string sent(5000, 'x');
  stream.then("y").then(sent).then("z");
  std::string data = "before ";
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, weft::dynamic_buffer(data), ec), 5002u);
  EXPECT_EQ(ec, eof);
  EXPECT_EQ(data, "before y" + sent + "z");
}

TEST(read, dynamic_buffer_is_full_at_its_maximum) {
  scripted_stream stream;
  stream.then("abcdef").then("ghi");
  std::vector<char> data{'-'};
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, weft::dynamic_buffer(data, 8), ec), 7u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(std::string(data.begin(), data.end()), "-abcdefg");
  EXPECT_EQ(weft::read(stream, weft::dynamic_buffer(data, 8), ec), 0u);
  EXPECT_FALSE(ec);
}

TEST(read, dynamic_buffer_makes_room_for_what_the_condition_names) {
  scripted_stream stream;
  stream.then(std::string(3000, 'a'));
  std::string data;
  EXPECT_EQ(weft::read(stream, weft::dynamic_buffer(data), weft::transfer_exactly(2000)), 2000u);
  EXPECT_EQ(data.size(), 2000u);
  EXPECT_EQ(stream.sizes, (std::deque<std::size_t>{2000}));
}

TEST(read, announced_size_is_not_allocated_before_it_comes) {
  scripted_stream stream;
  stream.then("few");
  std::string data;
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, weft::dynamic_buffer(data),
                       weft::transfer_exactly(std::size_t{1} << 40), ec),
            3u);
  EXPECT_EQ(ec, eof);
  EXPECT_EQ(data, "few");
  EXPECT_LE(data.capacity(), 200'000u);
}

TEST(read, streambuf_takes_bytes_at_its_end) {
  scripted_stream stream;
  stream.then("abc").then("def");
  weft::streambuf sb;
  EXPECT_EQ(weft::read(stream, sb, weft::transfer_at_least(4)), 6u);
  EXPECT_EQ(sb.size(), 6u);
  EXPECT_EQ(weft::read(stream, weft::basic_streambuf_ref<>(sb), weft::transfer_exactly(0)), 0u);
  weft::error_code ec;
  EXPECT_EQ(weft::read(stream, sb, ec), 0u);
  EXPECT_EQ(ec, eof);
}

TEST(read_at, offset_advances_with_the_bytes_read) {
  scripted_stream device;
  device.then("ab").then("cde").then("f");
  std::string data(6, '.');
  EXPECT_EQ(weft::read_at(device, 1000, weft::buffer(data)), 6u);
  EXPECT_EQ(data, "abcdef");
  EXPECT_EQ(device.offsets, (std::deque<std::uint64_t>{1000, 1002, 1005}));
}

TEST(read_at, error_in_the_middle_reports_the_bytes_before_it) {
  scripted_stream device;
  device.then("ab").then(reset);
  weft::streambuf sb;
  weft::error_code ec;
  EXPECT_EQ(weft::read_at(device, 7, sb, weft::transfer_all(), ec), 2u);
  EXPECT_EQ(ec, reset);
  EXPECT_EQ(sb.size(), 2u);
  char byte;
  EXPECT_EQ(weft::read_at(device, 7, weft::buffer(&byte, 1), ec), 0u);
  EXPECT_EQ(ec, eof);
  EXPECT_THROW(weft::read_at(device, 0, weft::buffer(&byte, 1)), weft::system_error);
  EXPECT_EQ(weft::read_at(device, 0, weft::mutable_buffer(), weft::transfer_all()), 0u);
}

TEST(completion_condition, handlers_are_no_conditions) {
  using weft::is_completion_condition;
  const auto handler = [](const weft::error_code&, std::size_t) {};
  const auto generic = [](auto&&...) {};
  const auto condition = [](weft::error_code, std::size_t) { return 0; };
  static_assert(!is_completion_condition<decltype(handler)>::value);
  static_assert(!is_completion_condition<decltype(generic)>::value);
  static_assert(is_completion_condition<decltype(condition)>::value);
  static_assert(is_completion_condition<decltype(weft::transfer_all())>::value);
  static_assert(is_completion_condition<std::size_t (*)(weft::error_code, std::size_t)>::value);
  static_assert(!is_completion_condition<weft::error_code>::value);
  SUCCEED();
}

}  // namespace
