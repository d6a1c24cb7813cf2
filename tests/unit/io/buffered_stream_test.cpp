// SPDX-License-Identifier: BSL-1.0
#include <weft/io/buffered_stream.hpp>

#include <gtest/gtest.h>

#include <string>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/io/buffer_literals.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_until.hpp>

#include "async_scripted_stream.hpp"

namespace {

using namespace weft::buffer_literals;
using weft_test::async_scripted_stream;
using weft_test::manual_context;
using weft_test::transfer_result;

const weft::error_code eof = weft::error::eof;
const weft::error_code broken = weft::error::broken_pipe;
const weft::error_code aborted = weft::error::operation_aborted;

class buffered : public testing::Test {
 protected:
  manual_context context;
  async_scripted_stream lowest{context};
  transfer_result result;
  std::string data = std::string(4, '.');
  weft::error_code ec;
};

using buffered_read = buffered;
using buffered_write = buffered;
using buffered_both = buffered;
using reader = weft::buffered_read_stream<async_scripted_stream&>;
using writer = weft::buffered_write_stream<async_scripted_stream&>;

TEST_F(buffered_read, one_read_of_the_next_layer_serves_many) {
  lowest.then("abcdefgh");
  reader stream(lowest, 100);
  EXPECT_EQ(stream.read_some(weft::buffer(data)), 4u);
  EXPECT_EQ(data, "abcd");
  EXPECT_EQ(stream.in_avail(), 4u);
  EXPECT_EQ(stream.read_some(weft::buffer(data), ec), 4u);
  EXPECT_EQ(data, "efgh");
  EXPECT_EQ(lowest.calls, 1);
  EXPECT_EQ(stream.read_some(weft::buffer(data), ec), 0u);
  EXPECT_EQ(ec, eof);
  EXPECT_THROW(stream.read_some(weft::buffer(data)), weft::system_error);
}

TEST_F(buffered_read, peek_leaves_the_bytes) {
  lowest.then("abcdefgh");
  reader stream(lowest);
  EXPECT_EQ(stream.peek(weft::buffer(data)), 4u);
  EXPECT_EQ(stream.peek(weft::buffer(data), ec), 4u);
  EXPECT_EQ(stream.in_avail(ec), 8u);
  EXPECT_EQ(stream.read_some(weft::mutable_buffer()), 0u);
  EXPECT_EQ(stream.read_some(weft::buffer(data)), 4u);
  EXPECT_EQ(data, "abcd");
}

TEST_F(buffered_read, fill_adds_until_the_buffer_is_full) {
  lowest.then("abc").then("defgh");
  reader stream(lowest, 5);
  EXPECT_EQ(stream.fill(), 3u);
  EXPECT_EQ(stream.fill(ec), 2u);
  EXPECT_EQ(stream.fill(ec), 0u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(lowest.calls, 2);
  std::string all(8, '.');
  EXPECT_EQ(weft::read(stream, weft::buffer(all)), 8u);
  EXPECT_EQ(all, "abcdefgh");
}

TEST_F(buffered_read, asynchronous_read_from_memory_is_not_inline) {
  lowest.then("abcdefgh");
  reader stream(lowest);
  stream.async_read_some(weft::buffer(data), result.handler());
  EXPECT_TRUE(lowest.pending());
  lowest.drive();
  EXPECT_EQ(result.n, 4u);
  EXPECT_EQ(data, "abcd");
  stream.async_read_some(weft::buffer(data), result.handler());
  EXPECT_FALSE(lowest.pending());
  EXPECT_EQ(result.calls, 1);
  context.run();
  EXPECT_EQ(result.calls, 2);
  EXPECT_EQ(data, "efgh");
}

TEST_F(buffered_read, asynchronous_algorithms_run_on_it) {
  lowest.then("first\nsec").then("ond\n");
  reader stream(lowest);
  std::string line;
  weft::async_read_until(stream, weft::dynamic_buffer(line, 6), '\n', result.handler());
  lowest.drive();
  EXPECT_EQ(result.n, 6u);
  EXPECT_EQ(line, "first\n");
  line.clear();
  weft::async_read_until(stream, weft::dynamic_buffer(line), '\n')(result.handler());
  lowest.drive();
  EXPECT_EQ(line, "second\n");
}

TEST_F(buffered_read, asynchronous_fill_and_errors) {
  lowest.then("abc");
  reader stream(lowest, 3);
  stream.async_fill(result.handler());
  lowest.drive();
  EXPECT_EQ(result.n, 3u);
  stream.async_fill(result.handler());
  lowest.drive();
  EXPECT_EQ(result.calls, 2);
  EXPECT_EQ(result.n, 0u);
  EXPECT_FALSE(result.ec) << "a full buffer is no error";
  stream.read_some(weft::buffer(data));
  stream.async_read_some(weft::buffer(data), result.handler());
  lowest.drive();
  EXPECT_EQ(result.ec, eof);
  EXPECT_EQ(result.n, 0u);
}

TEST_F(buffered_read, cancelled_read_loses_nothing) {
  lowest.then("abcd");
  reader stream(lowest);
  weft::cancellation_signal signal;
  stream.async_read_some(weft::buffer(data),
                         weft::bind_cancellation_slot(signal.slot(), result.handler()));
  signal.emit(weft::cancellation_type::total);
  context.run();
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(stream.read_some(weft::buffer(data)), 4u);
}

TEST_F(buffered_read, writes_pass_through) {
  lowest.then_take(3).then_take(3).then_take(3);
  reader stream(lowest);
  EXPECT_EQ(stream.write_some("abc"_buf), 3u);
  EXPECT_EQ(stream.write_some("def"_buf, ec), 3u);
  stream.async_write_some("ghi"_buf, result.handler());
  lowest.drive();
  EXPECT_EQ(lowest.written, "abcdefghi");
}

TEST_F(buffered_write, bytes_wait_for_the_flush) {
  lowest.then_take(2).then_take(100);
  writer stream(lowest);
  EXPECT_EQ(stream.write_some("abc"_buf), 3u);
  EXPECT_EQ(stream.write_some("def"_buf, ec), 3u);
  EXPECT_EQ(lowest.calls, 0);
  EXPECT_EQ(stream.flush(), 6u);
  EXPECT_EQ(lowest.written, "abcdef");
  EXPECT_EQ(stream.flush(ec), 0u);
}

TEST_F(buffered_write, full_buffer_is_flushed_before_more_goes_in) {
  lowest.then_take(100).then_take(100).then_take(100);
  writer stream(lowest, 4);
  EXPECT_EQ(weft::write(stream, "0123456789"_buf), 10u);
  EXPECT_EQ(lowest.written, "01234567");
  stream.flush();
  EXPECT_EQ(lowest.written, "0123456789");
  EXPECT_EQ(stream.write_some(weft::const_buffer()), 0u);
}

TEST_F(buffered_write, failed_flush_keeps_the_rest) {
  lowest.then_take(2).then(broken).then_take(100);
  writer stream(lowest, 4);
  stream.write_some("abcd"_buf);
  EXPECT_EQ(stream.write_some("e"_buf, ec), 0u);
  EXPECT_EQ(ec, broken);
  EXPECT_EQ(stream.flush(), 2u);
  EXPECT_EQ(lowest.written, "abcd");
  lowest.then(broken);
  stream.write_some("x"_buf);
  EXPECT_THROW(stream.flush(), weft::system_error);
}

TEST_F(buffered_write, asynchronous_write_flushes_when_full) {
  lowest.then_take(3).then_take(100).then_take(100);
  writer stream(lowest, 4);
  weft::async_write(stream, "0123456"_buf, result.handler());
  lowest.drive();
  EXPECT_EQ(result.calls, 1);
  EXPECT_EQ(result.n, 7u);
  EXPECT_EQ(lowest.written, "0123");
  stream.async_flush(result.handler());
  lowest.drive();
  EXPECT_EQ(result.calls, 2);
  EXPECT_EQ(result.n, 3u);
  EXPECT_EQ(lowest.written, "0123456");
  stream.async_flush(result.handler());
  EXPECT_EQ(result.calls, 2) << "an empty flush is not inline";
  context.run();
  EXPECT_EQ(result.calls, 3);
}

TEST_F(buffered_write, cancelled_flush_keeps_what_was_not_written) {
  lowest.then_take(2).then_take(100).then_take(100);
  writer stream(lowest);
  weft::cancellation_signal signal;
  stream.write_some("abcd"_buf);
  stream.async_flush(weft::bind_cancellation_slot(signal.slot(), result.handler()));
  lowest.perform();
  context.run();
  signal.emit(weft::cancellation_type::partial);
  context.run();
  EXPECT_EQ(result.ec, aborted);
  EXPECT_EQ(result.n, 2u);
  stream.flush();
  EXPECT_EQ(lowest.written, "abcd");
}

TEST_F(buffered_write, reads_pass_through) {
  lowest.then("abc").then("def").then("ghi");
  writer stream(lowest);
  EXPECT_EQ(stream.read_some(weft::buffer(data)), 3u);
  EXPECT_EQ(stream.read_some(weft::buffer(data), ec), 3u);
  stream.async_read_some(weft::buffer(data), result.handler());
  lowest.drive();
  EXPECT_EQ(result.n, 3u);
}

TEST_F(buffered_both, buffers_each_direction) {
  weft::buffered_stream<async_scripted_stream&> stream(lowest, 100, 4);
  lowest.then("abcdefgh");
  EXPECT_EQ(stream.read_some(weft::buffer(data)), 4u);
  EXPECT_EQ(stream.in_avail(), 4u);
  EXPECT_EQ(stream.peek(weft::buffer(data)), 4u);
  EXPECT_EQ(stream.write_some("xy"_buf), 2u);
  stream.async_write_some("z"_buf, result.handler());
  context.run();
  EXPECT_EQ(result.n, 1u);
  EXPECT_EQ(lowest.calls, 1);
  lowest.then_take(100);
  stream.async_flush(result.handler());
  lowest.drive();
  EXPECT_EQ(lowest.written, "xyz");
  stream.async_read_some(weft::buffer(data), result.handler());
  lowest.drive();
  EXPECT_EQ(data, "efgh");
  EXPECT_EQ(&stream.lowest_layer(), &lowest);
  EXPECT_EQ(&stream.next_layer(), &lowest);
  EXPECT_EQ(stream.get_executor(), lowest.get_executor());
  stream.close();
  EXPECT_TRUE(lowest.closed);
}

TEST_F(buffered_both, traits_see_through_the_layers) {
  using weft::is_read_buffered;
  using weft::is_write_buffered;
  using both = weft::buffered_stream<async_scripted_stream>;
  static_assert(is_read_buffered<both>::value && is_write_buffered<both>::value);
  static_assert(is_read_buffered<reader>::value && !is_write_buffered<reader>::value);
  static_assert(!is_read_buffered<writer>::value && is_write_buffered<writer>::value);
  static_assert(is_read_buffered<weft::buffered_write_stream<reader&>>::value);
  static_assert(!is_read_buffered<async_scripted_stream>::value);
}

TEST_F(buffered_both, may_own_the_next_layer) {
  weft::buffered_stream<async_scripted_stream> stream(context);
  stream.next_layer().then("abcd");
  EXPECT_EQ(stream.read_some(weft::buffer(data)), 4u);
}

}  // namespace
