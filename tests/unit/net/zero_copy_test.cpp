// SPDX-License-Identifier: BSL-1.0
#include <array>
#include <string>
#include <tuple>

#include <weft/io/read.hpp>
#include <weft/net/zero_copy.hpp>

#include "support/cancellable.hpp"
#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;

using zero_copy = socket_test;
using zero_copy_result = outcome<error_code, std::size_t, bool>;

TEST_P(zero_copy, bytes_arrive_and_the_buffer_is_given_back) {
  auto [a, b] = tcp_pair();
  for (int i = 0; i != 5; ++i) {
    const std::string page(32 * 1024, static_cast<char>('a' + i));
    std::string got(page.size(), '\0');
    zero_copy_result sent;
    transfer received;
    weft::async_send_zero_copy(a, buffer(page), sent.handler());
    EXPECT_EQ(sent.calls, 0);
    weft::async_read(b, buffer(got), received.handler());
    run_until_done(sent);
    ASSERT_FALSE(sent.ec());
    ASSERT_GT(sent.bytes(), 0u);
    if (sent.bytes() < page.size())
      a.write_some(buffer(page.data() + sent.bytes(), page.size() - sent.bytes()));
    run();
    EXPECT_TRUE(got == page);
  }
}

TEST_P(zero_copy, write_that_follows_goes_out_after_it) {
  auto [a, b] = tcp_pair();
  zero_copy_result first;
  transfer second, received;
  std::string got(8, '\0');
  const std::array<weft::const_buffer, 2> parts{buffer("ab", 2), buffer("cd", 2)};
  weft::async_send_zero_copy(a, parts, first.handler());
  a.async_write_some(buffer("efgh", 4), second.handler());
  weft::async_read(b, buffer(got), received.handler());
  run();
  EXPECT_EQ(first.bytes(), 4u);
  EXPECT_FALSE(second.ec());
  EXPECT_EQ(got, "abcdefgh");
}

TEST_P(zero_copy, socket_without_the_means_sends_a_copy_and_says_so) {
  auto [a, b] = unix_pair();
  zero_copy_result sent;
  weft::async_send_zero_copy(a, buffer("copy", 4), sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 4u);
  EXPECT_TRUE(std::get<2>(*sent.results));
  EXPECT_EQ(b.available(), 4u);
}

TEST_P(zero_copy, closed_socket_and_broken_connection_are_reported) {
  tcp::socket closed(context);
  auto [a, b] = unix_pair();
  b.close();
  zero_copy_result no_socket, empty, broken;
  weft::async_send_zero_copy(closed, buffer("x", 1), no_socket.handler());
  weft::async_send_zero_copy(a, weft::const_buffer(), empty.handler());
  weft::async_send_zero_copy(a, buffer("x", 1), broken.handler());
  run();
  EXPECT_EQ(no_socket.ec(), weft::error::bad_descriptor);
  EXPECT_FALSE(empty.ec());
  EXPECT_EQ(broken.ec(), weft::error::broken_pipe);
}

TEST_P(zero_copy, close_does_not_wait_for_a_peer_that_does_not_read) {
  auto [a, b] = tcp_pair();
  const std::string much(1 << 20, 'x');
  a.non_blocking(true);
  error_code ec;
  while (!ec)
    a.write_some(buffer(much), ec);
  zero_copy_result sent;
  weft::async_send_zero_copy(a, buffer(much), sent.handler());
  context.poll();
  a.close();
  run();
  EXPECT_EQ(sent.ec(), weft::error::operation_aborted);
}

TEST_P(zero_copy, total_cancellation_ends_the_wait_for_a_peer_that_does_not_read) {
  auto [a, b] = tcp_pair();
  b.set_option(tcp::socket::receive_buffer_size(1));
  const std::string much(1 << 20, 'x');
  weft::cancellation_signal signal;
  zero_copy_result sent;
  weft::async_send_zero_copy(a, buffer(much), weft_test::cancellable(signal, sent.handler()));
  while (b.available() == 0)
    context.poll();
  context.poll();
  ASSERT_EQ(sent.calls, 0);
  signal.emit(weft::cancellation_type::total);
  while (sent.calls == 0 && context.run_one() != 0) {}
  EXPECT_EQ(sent.ec(), weft::error::operation_aborted);
  EXPECT_GT(sent.bytes(), 0u);
}

TEST_P(zero_copy, reset_by_the_peer_ends_it) {
  auto [a, b] = tcp_pair();
  const std::string much(64 * 1024, 'x');
  zero_copy_result sent;
  weft::async_send_zero_copy(a, buffer(much), sent.handler());
  b.set_option(tcp::socket::linger(true, 0));
  b.close();
  run();
  EXPECT_EQ(sent.calls, 1);
}

WEFT_INSTANTIATE_BACKENDS(zero_copy);

}  // namespace
