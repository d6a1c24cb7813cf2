// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <string>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/io/read_until.hpp>

#include "async_scripted_stream.hpp"

namespace {

using weft_test::async_scripted_stream;
using weft_test::manual_context;
using weft_test::transfer_result;

const weft::error_code reset = weft::error::connection_reset;
const weft::error_code eof = weft::error::eof;
const weft::error_code not_found = weft::error::not_found;
const weft::error_code aborted = weft::error::operation_aborted;

class async_read_until : public testing::Test {
 protected:
  manual_context context;
  async_scripted_stream stream{context};
  transfer_result result;
  std::string data;
  weft::cancellation_signal signal;
};

TEST_F(async_read_until, character_found_across_chunks) {
  stream.then("first li").then("ne\nsecond");
  weft::async_read_until(stream, weft::dynamic_buffer(data), '\n', result.handler());
  stream.drive();
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 11u);
  EXPECT_EQ(data, "first line\nsecond");
}

TEST_F(async_read_until, string_delimiter_need_not_outlive_the_call) {
  stream.then("head\r\n\r").then("\nbody");
  weft::streambuf sb;
  {
    std::string delimiter = "\r\n\r\n";
    weft::async_read_until(stream, sb, delimiter, result.handler());
    delimiter.assign(delimiter.size(), '?');
  }
  stream.drive();
  EXPECT_EQ(result.n, 8u);
  EXPECT_EQ(sb.size(), 12u);
}

TEST_F(async_read_until, match_already_there_completes_without_the_stream_but_not_inline) {
  data = "one\ntwo\n";
  weft::async_read_until(stream, weft::dynamic_buffer(data), "\n", result.handler());
  EXPECT_EQ(result.calls, 0);
  EXPECT_FALSE(stream.pending());
  context.run();
  EXPECT_EQ(result.calls, 1);
  EXPECT_EQ(result.n, 4u);
}

TEST_F(async_read_until, match_condition_may_be_any_function_object) {
  stream.then("ab1").then("c2");
  const auto digit = [](auto begin, auto end) {
    for (; begin != end; ++begin)
      if (*begin == '2')
        return std::pair(begin + 1, true);
    return std::pair(end, false);
  };
  weft::async_read_until(stream, weft::dynamic_buffer(data), digit, result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 5u);
}

TEST_F(async_read_until, errors_report_no_bytes_and_keep_them_in_the_buffer) {
  stream.then("abc").then(reset);
  weft::async_read_until(stream, weft::dynamic_buffer(data), '\n', result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, reset);
  EXPECT_EQ(result.n, 0u);
  EXPECT_EQ(data, "abc");
  weft::async_read_until(stream, weft::dynamic_buffer(data), '\n')(result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, eof);
}

TEST_F(async_read_until, maximum_size_without_a_match_is_not_found) {
  stream.then("abcdef");
  weft::async_read_until(stream, weft::dynamic_buffer(data, 4), '\n', result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, not_found);
  EXPECT_EQ(data, "abcd");
  weft::async_read_until(stream, weft::dynamic_buffer(data, 4), '\n', result.handler());
  EXPECT_FALSE(stream.pending());
  stream.drive();
  EXPECT_EQ(result.calls, 2);
  EXPECT_EQ(result.ec, not_found);
}

TEST_F(async_read_until, partial_request_keeps_what_was_read_in_the_buffer) {
  stream.then("abc").then("def\n");
  weft::async_read_until(stream, weft::dynamic_buffer(data), '\n',
                         weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  context.run();
  signal.emit(weft::cancellation_type::partial);
  context.run();
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(result.n, 0u);
  EXPECT_EQ(data, "abc");
  weft::async_read_until(stream, weft::dynamic_buffer(data), '\n', result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 7u);
}

TEST_F(async_read_until, total_request_is_not_answered_once_bytes_have_been_read) {
  stream.then("abc").then("def\n");
  weft::async_read_until(stream, weft::dynamic_buffer(data), '\n',
                         weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  context.run();
  signal.emit(weft::cancellation_type::total);
  EXPECT_TRUE(stream.pending());
  stream.drive();
  EXPECT_EQ(result.n, 7u);
}

}  // namespace
