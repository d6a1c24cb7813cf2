// SPDX-License-Identifier: BSL-1.0
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/io/buffer_literals.hpp>
#include <weft/io/write.hpp>
#include <weft/io/write_at.hpp>

#include "async_scripted_stream.hpp"

namespace {

using namespace weft::buffer_literals;
using weft_test::async_scripted_stream;
using weft_test::manual_context;
using weft_test::transfer_result;

const weft::error_code broken = weft::error::broken_pipe;
const weft::error_code aborted = weft::error::operation_aborted;

class async_write : public testing::Test {
 protected:
  manual_context context;
  async_scripted_stream stream{context};
  transfer_result result;
  weft::cancellation_signal signal;
};

TEST_F(async_write, goes_on_until_everything_is_written) {
  stream.then_take(5).then_take(1).then_take(100);
  weft::async_write(stream, "hello, world"_buf, result.handler());
  EXPECT_EQ(result.calls, 0);
  stream.drive();
  EXPECT_EQ(result.calls, 1);
  EXPECT_FALSE(result.ec);
  EXPECT_EQ(result.n, 12u);
  EXPECT_EQ(stream.written, "hello, world");
}

TEST_F(async_write, error_in_the_middle_reports_the_bytes_before_it) {
  stream.then_take(5).then(broken);
  weft::async_write(stream, "hello, world"_buf, result.handler());
  stream.drive();
  EXPECT_EQ(result.ec, broken);
  EXPECT_EQ(result.n, 5u);
}

TEST_F(async_write, nothing_to_write_completes_without_the_stream_but_not_inline) {
  weft::async_write(stream, std::vector<weft::const_buffer>(3), result.handler());
  EXPECT_EQ(result.calls, 0);
  EXPECT_FALSE(stream.pending());
  context.run();
  EXPECT_EQ(result.calls, 1);
  EXPECT_FALSE(result.ec);
}

TEST_F(async_write, long_sequence_is_gathered_in_batches) {
  std::string sent;
  for (char c = 'a'; c <= 'z'; ++c)
    sent.append(3, c);
  std::vector<weft::const_buffer> buffers;
  for (std::size_t i = 0; i != sent.size(); i += 2)
    buffers.push_back(weft::buffer(sent.data() + i, 2));
  for (int i = 0; i != 20; ++i)
    stream.then_take(7);
  weft::async_write(stream, buffers, result.handler());
  stream.drive();
  EXPECT_EQ(result.n, sent.size());
  EXPECT_EQ(stream.written, sent);
}

TEST_F(async_write, dynamic_buffer_loses_what_was_written) {
  stream.then_take(4).then_take(3).then(broken);
  std::string data = "0123456789";
  weft::async_write(stream, weft::dynamic_buffer(data), result.handler());
  stream.perform();
  context.run();
  EXPECT_EQ(data, "0123456789") << "the bytes stay where they are while it runs";
  stream.drive();
  EXPECT_EQ(result.ec, broken);
  EXPECT_EQ(result.n, 7u);
  EXPECT_EQ(data, "789");
}

TEST_F(async_write, deferred_write_sends_what_the_streambuf_holds_when_it_is_started) {
  stream.then_take(100);
  weft::streambuf sb;
  std::ostream os(&sb);
  os << "before ";
  auto operation = weft::async_write(stream, sb);
  os << "and after";
  std::move(operation)(result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 16u);
  EXPECT_EQ(stream.written, "before and after");
  EXPECT_EQ(sb.size(), 0u);
}

TEST_F(async_write, condition_ends_it_early) {
  stream.then_take(4).then_take(4).then_take(4);
  weft::async_write(stream, "0123456789"_buf, weft::transfer_at_least(5), result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 8u);
  weft::async_write(stream, "abc"_buf, [](weft::error_code, std::size_t) -> std::size_t {
    return 0;
  })(result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 0u);
  EXPECT_EQ(stream.written, "01234567");
}

TEST_F(async_write, partial_request_ends_it_with_the_bytes_so_far) {
  stream.then_take(4).then_take(4);
  weft::async_write(stream, "0123456789"_buf,
                    weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  context.run();
  signal.emit(weft::cancellation_type::partial);
  context.run();
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(result.n, 4u);
  EXPECT_EQ(stream.written, "0123");
}

TEST_F(async_write, cancelled_dynamic_write_keeps_the_rest) {
  stream.then_take(4).then_take(4);
  std::string data = "0123456789";
  weft::async_write(stream, weft::dynamic_buffer(data),
                    weft::bind_cancellation_slot(signal.slot(), result.handler()));
  stream.perform();
  signal.emit(weft::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(data, "456789");
}

TEST_F(async_write, at_advances_the_offset) {
  stream.then_take(2).then_take(9);
  weft::async_write_at(stream, 100, "abcdef"_buf, result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 6u);
  EXPECT_EQ(stream.written, "abcdef");
  EXPECT_EQ(stream.offsets, (std::deque<std::uint64_t>{100, 102}));
}

TEST_F(async_write, at_takes_a_streambuf_and_a_condition) {
  stream.then_take(2).then_take(9);
  weft::streambuf sb;
  std::ostream(&sb) << "abcdef";
  weft::async_write_at(stream, 0, sb, weft::transfer_exactly(4), result.handler());
  stream.drive();
  EXPECT_EQ(result.n, 4u);
  EXPECT_EQ(sb.size(), 2u);
}

}  // namespace
