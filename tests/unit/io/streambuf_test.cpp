// SPDX-License-Identifier: BSL-1.0
#include <weft/io/streambuf.hpp>

#include <gtest/gtest.h>

#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/buffers_iterator.hpp>

namespace {

std::string input(const weft::streambuf& sb) {
  const auto bytes = sb.data();
  return {weft::buffers_begin(bytes), weft::buffers_end(bytes)};
}

TEST(streambuf, what_an_ostream_writes_is_the_input_sequence) {
  weft::streambuf sb;
  std::ostream os(&sb);
  os << "GET " << 42 << '\n';
  EXPECT_EQ(input(sb), "GET 42\n");
  EXPECT_EQ(sb.size(), 7u);
  sb.consume(4);
  EXPECT_EQ(input(sb), "42\n");
}

TEST(streambuf, what_is_committed_can_be_read_by_an_istream) {
  weft::streambuf sb;
  std::istream is(&sb);
  std::string line;
  for (int i = 0; i != 100; ++i) {
    const std::string sent = "line " + std::to_string(i);
    weft::buffer_copy(sb.prepare(200), weft::buffer(sent + "\n"));
    sb.commit(sent.size() + 1);
    ASSERT_TRUE(std::getline(is, line));
    EXPECT_EQ(line, sent);
    EXPECT_EQ(sb.size(), 0u);
  }
}

TEST(streambuf, istream_and_ostream_may_alternate) {
  weft::streambuf sb;
  std::iostream stream(&sb);
  std::string all;
  for (int i = 0; i != 1000; ++i) {
    stream << i << ' ';
    if (i % 3 == 0) {
      int read = -1;
      ASSERT_TRUE(stream >> read);
      EXPECT_EQ(read, i / 3);
    }
  }
  EXPECT_FALSE(input(sb).empty());
}

TEST(streambuf, reading_past_the_input_is_end_of_file_until_more_comes) {
  weft::streambuf sb;
  std::istream is(&sb);
  EXPECT_EQ(is.get(), std::istream::traits_type::eof());
  is.clear();
  weft::buffer_copy(sb.prepare(1), weft::const_buffer("x", 1));
  sb.commit(1);
  EXPECT_EQ(is.get(), 'x');
}

TEST(streambuf, commit_and_consume_stop_at_the_end) {
  weft::streambuf sb;
  sb.prepare(3);
  sb.commit(1000000);
  EXPECT_LE(sb.size(), sb.capacity());
  EXPECT_GE(sb.size(), 3u);
  sb.consume(1000000);
  EXPECT_EQ(sb.size(), 0u);
}

TEST(streambuf, exceeding_the_maximum_throws_length_error) {
  weft::streambuf sb(8);
  EXPECT_EQ(sb.max_size(), 8u);
  EXPECT_THROW(sb.prepare(9), std::length_error);
  EXPECT_EQ(sb.prepare(8).size(), 8u);
  sb.commit(6);
  EXPECT_THROW(sb.prepare(3), std::length_error);
  EXPECT_EQ(sb.size(), 6u);
  sb.consume(5);
  EXPECT_EQ(sb.prepare(7).size(), 7u) << "consumed bytes no longer count";
  EXPECT_EQ(sb.size(), 1u);
}

TEST(streambuf, ostream_that_fills_it_goes_bad_and_keeps_what_fits) {
  weft::streambuf sb(10);
  std::ostream os(&sb);
  os << "0123456789";
  EXPECT_TRUE(os.good());
  os << "x";
  EXPECT_TRUE(os.bad());
  EXPECT_EQ(input(sb), "0123456789");
}

TEST(streambuf, growth_keeps_the_input) {
  weft::streambuf sb;
  std::string expected;
  for (std::size_t i = 1; i != 300; ++i) {
    const std::string block(i, static_cast<char>('a' + i % 26));
    weft::buffer_copy(sb.prepare(i), weft::buffer(block));
    sb.commit(i);
    expected += block;
    sb.consume(i / 2);
    expected.erase(0, i / 2);
  }
  EXPECT_EQ(input(sb), expected);
}

TEST(streambuf, ref_shares_the_streambuf) {
  weft::streambuf sb(100);
  weft::basic_streambuf_ref<> ref(sb);
  const auto copy = ref;
  weft::buffer_copy(ref.prepare(2), weft::const_buffer("ok", 2));
  ref.commit(2);
  EXPECT_EQ(copy.size(), 2u);
  EXPECT_EQ(copy.max_size(), 100u);
  EXPECT_EQ(copy.capacity(), sb.capacity());
  EXPECT_EQ(input(sb), "ok");
  ref.consume(1);
  EXPECT_EQ(copy.data().size(), 1u);
}

}  // namespace
