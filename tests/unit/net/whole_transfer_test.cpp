// SPDX-License-Identifier: BSL-1.0
#include <string>

#include <weft/io/read.hpp>
#include <weft/io/write.hpp>

#include "support/cancellable.hpp"
#include "unit/net/socket_fixture.hpp"

// async_read and async_write of all of one buffer, which are one operation of a socket.

namespace {

using namespace weft_test;
using weft::cancellation_type;

using whole_transfer = socket_test;

TEST_P(whole_transfer, read_ends_only_when_the_buffer_is_full) {
  auto [a, b] = unix_pair();
  std::string text(9, '.');
  transfer received;
  weft::async_read(b, buffer(text), received.handler());
  for (const char* part : {"abc", "def"}) {
    a.write_some(buffer(part, 3));
    context.poll();
    EXPECT_EQ(received.calls, 0);
  }
  a.write_some(buffer("ghijkl", 6));
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 9u);
  EXPECT_EQ(text, "abcdefghi");
  EXPECT_EQ(b.read_some(buffer(text)), 3u);
}

TEST_P(whole_transfer, end_of_the_stream_reports_the_bytes_before_it) {
  auto [a, b] = tcp_pair();
  std::string text(9, '.');
  transfer received;
  weft::async_read(b, buffer(text), received.handler());
  a.write_some(buffer("abc", 3));
  context.poll();
  a.close();
  run();
  EXPECT_EQ(received.ec(), weft::error::eof);
  EXPECT_EQ(received.bytes(), 3u);
}

TEST_P(whole_transfer, cancel_reports_the_bytes_before_it) {
  auto [a, b] = unix_pair();
  std::string text(9, '.');
  transfer received;
  a.write_some(buffer("abc", 3));
  weft::async_read(b, buffer(text), received.handler());
  context.poll();
  EXPECT_EQ(received.calls, 0);
  b.cancel();
  run();
  EXPECT_EQ(received.ec(), weft::error::operation_aborted);
  EXPECT_EQ(received.bytes(), 3u);
}

TEST_P(whole_transfer, total_cancellation_is_answered_only_before_the_first_byte) {
  auto [a, b] = unix_pair();
  std::string text(4, '.');
  for (const bool begun : {false, true}) {
    weft::cancellation_signal signal;
    transfer received;
    weft::async_read(b, buffer(text), cancellable(signal, received.handler()));
    if (begun)
      a.write_some(buffer("ab", 2));
    context.restart();
    context.poll();
    signal.emit(cancellation_type::total);
    context.restart();
    context.poll();
    if (begun) {
      EXPECT_EQ(received.calls, 0);
      a.write_some(buffer("cd", 2));
    }
    run();
    EXPECT_EQ(received.ec(), begun ? error_code() : weft::error::operation_aborted);
    EXPECT_EQ(received.bytes(), begun ? 4u : 0u);
  }
  EXPECT_EQ(text, "abcd");
}

TEST_P(whole_transfer, partial_cancellation_is_answered_at_any_time) {
  auto [a, b] = unix_pair();
  std::string text(4, '.');
  weft::cancellation_signal signal;
  transfer received;
  a.write_some(buffer("ab", 2));
  weft::async_read(b, buffer(text), cancellable(signal, received.handler()));
  context.poll();
  EXPECT_EQ(received.calls, 0);
  signal.emit(cancellation_type::partial);
  run();
  EXPECT_EQ(received.ec(), weft::error::operation_aborted);
  EXPECT_EQ(received.bytes(), 2u);
}

TEST_P(whole_transfer, more_than_the_system_holds_arrives_in_order) {
  constexpr std::size_t size = 4'000'000;
  for (const bool local : {false, true}) {
    std::string out(size, '.'), in(size, '.');
    for (std::size_t i = 0; i != size; ++i)
      out[i] = static_cast<char>(i * 2654435761u >> 24);
    transfer sent, received;
    const auto exchange = [&](auto pair) {
      weft::async_write(pair.first, buffer(out), sent.handler());
      weft::async_read(pair.second, buffer(in), received.handler());
      run();
    };
    if (local)
      exchange(unix_pair());
    else
      exchange(tcp_pair());
    EXPECT_FALSE(sent.ec());
    EXPECT_EQ(sent.bytes(), size);
    EXPECT_FALSE(received.ec());
    EXPECT_TRUE(in == out);
  }
}

TEST_P(whole_transfer, write_to_a_peer_that_goes_reports_the_bytes_before_it) {
  auto [a, b] = unix_pair();
  const std::string out(4'000'000, '.');
  transfer sent;
  weft::async_write(a, buffer(out), sent.handler());
  context.poll();
  EXPECT_EQ(sent.calls, 0);
  b.close();
  run();
  EXPECT_TRUE(sent.ec());
  EXPECT_GT(sent.bytes(), 0u);
  EXPECT_LT(sent.bytes(), out.size());
}

TEST_P(whole_transfer, nothing_to_do_completes_but_not_inline) {
  auto [a, b] = unix_pair();
  transfer sent, received;
  weft::async_write(a, weft::const_buffer(), sent.handler());
  weft::async_read(b, weft::mutable_buffer(), received.handler());
  EXPECT_EQ(sent.calls + received.calls, 0);
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_FALSE(received.ec());
}

WEFT_INSTANTIATE_BACKENDS(whole_transfer);

}  // namespace
