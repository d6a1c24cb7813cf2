// SPDX-License-Identifier: BSL-1.0
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/bind_executor.hpp>
#include <weft/async/bind_immediate_executor.hpp>
#include <weft/context/strand.hpp>
#include <weft/execution/inline_executor.hpp>
#include <weft/io/read.hpp>
#include <weft/io/read_until.hpp>
#include <weft/net/generic_protocol.hpp>
#include <weft/net/socket_base.hpp>

#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;
using weft::const_buffer;
using weft::mutable_buffer;

using stream_socket = socket_test;

// ---- transfers

TEST_P(stream_socket, asynchronous_read_gets_what_was_written) {
  auto [a, b] = tcp_pair();
  transfer sent, received;
  std::string text(16, '\0');
  a.async_write_some(buffer("hello", 5), sent.handler());
  b.async_read_some(buffer(text), received.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 5u);
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(text.substr(0, received.bytes()), "hello");
}

TEST_P(stream_socket, read_that_waits_gets_what_is_written_later) {
  for (int round = 0; round != 10; ++round) {
    auto [a, b] = unix_pair();
    transfer received;
    std::string text(16, '\0');
    b.async_read_some(buffer(text), received.handler());
    context.restart();
    context.poll();
    EXPECT_EQ(received.calls, 0);
    EXPECT_EQ(a.write_some(buffer("later", 5)), 5u);
    run();
    EXPECT_FALSE(received.ec());
    EXPECT_EQ(text.substr(0, received.bytes()), "later");
  }
}

TEST_P(stream_socket, many_messages_on_one_connection_arrive_in_turn) {
  auto [a, b] = unix_pair();
  for (int i = 0; i != 100; ++i) {
    transfer received, answered;
    const std::string text = std::to_string(i);
    std::string got(i % 3 == 0 ? text.size() : 16, '\0');
    b.async_read_some(buffer(got), received.handler());
    a.async_write_some(buffer(text), answered.handler());
    run();
    ASSERT_FALSE(received.ec());
    ASSERT_EQ(got.substr(0, received.bytes()), text);
  }
}

TEST_P(stream_socket, operation_waits_also_with_the_flag_not_to_wait) {
  auto [a, b] = unix_pair();
  std::string text(16, '\0'), more(16, '\0');
  const std::array<mutable_buffer, 2> in{buffer(text), buffer(more)};
  transfer one, several;
  b.async_receive(buffer(text), MSG_DONTWAIT, one.handler());
  context.poll();
  EXPECT_EQ(one.calls, 0);
  a.write_some(buffer("first", 5));
  run_until_done(one);
  EXPECT_EQ(text.substr(0, one.bytes()), "first");
  b.async_receive(in, MSG_DONTWAIT, several.handler());
  context.poll();
  EXPECT_EQ(several.calls, 0);
  a.write_some(buffer("second", 6));
  run_until_done(several);
  EXPECT_EQ(text.substr(0, several.bytes()), "second");

  a.non_blocking(true);
  const std::string block(4096, 'x');
  std::size_t written = 0;
  for (error_code ec; !ec;)
    written += a.write_some(buffer(block), ec);
  transfer sent;
  a.async_send(buffer(block), MSG_DONTWAIT, sent.handler());
  context.poll();
  EXPECT_EQ(sent.calls, 0);
  std::string got(written, '\0');
  EXPECT_EQ(weft::read(b, buffer(got)), written);
  run_until_done(sent);
  EXPECT_FALSE(sent.ec());
}

TEST_P(stream_socket, a_receive_from_what_is_not_connected_fails_at_once) {
  tcp::acceptor acceptor(context, loopback());
  tcp::socket taken(context, tcp::v4(), acceptor.release());
  transfer received;
  std::string text(4, '\0');
  taken.async_receive(buffer(text), received.handler());
  run();
  EXPECT_EQ(received.ec(), weft::error::not_connected);
}

TEST_P(stream_socket, what_has_come_before_a_read_is_waited_for_no_longer) {
  for (int round = 0; round != 10; ++round) {
    auto [a, b] = tcp_pair();
    std::string text(4, '\0');
    for (const bool whole : {false, true, false}) {
      transfer received;
      if (whole)
        weft::async_read(b, buffer(text), received.handler());
      else
        b.async_read_some(buffer(text), received.handler());
      context.restart();
      context.poll();
      EXPECT_EQ(received.calls, 0);
      a.write_some(buffer("both of them", 12));
      run_until_done(received);
      EXPECT_EQ(text, "both");
      for (const char* part : {" of ", "them"}) {
        transfer rest;
        weft::async_read(b, buffer(text), rest.handler());
        run_until_done(rest);
        EXPECT_EQ(text, part);
      }
    }
    a.close();
    transfer last;
    b.async_read_some(buffer(text), last.handler());
    run_until_done(last);
    EXPECT_EQ(last.ec(), weft::error::eof);
  }
}

TEST_P(stream_socket, scattered_read_and_gathered_write_use_all_buffers) {
  auto [a, b] = tcp_pair();
  std::array<char, 3> x{};
  std::array<char, 8> y{};
  const std::array<const_buffer, 3> out{buffer("ab", 2), buffer("", 0), buffer("cdef", 4)};
  const std::array<mutable_buffer, 2> in{buffer(x), buffer(y)};
  transfer sent, received;
  a.async_write_some(out, sent.handler());
  run_until_done(sent);
  b.async_read_some(in, received.handler());
  run();
  EXPECT_EQ(sent.bytes(), 6u);
  EXPECT_EQ(received.bytes(), 6u);
  EXPECT_EQ(std::string(x.data(), 3) + std::string(y.data(), 3), "abcdef");
}

TEST_P(stream_socket, long_sequence_of_unknown_length_is_transferred_in_part) {
  auto [a, b] = unix_pair();
  std::string text(100, 'x');
  std::vector<const_buffer> out;
  for (char& c : text)
    out.push_back(buffer(&c, 1));
  transfer sent;
  a.async_write_some(out, sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_GE(sent.bytes(), 1u);
  EXPECT_LE(sent.bytes(), 100u);
  std::string got(100, '\0');
  EXPECT_EQ(b.read_some(buffer(got)), sent.bytes());
}

TEST_P(stream_socket, synchronous_calls_transfer_and_report_eof) {
  auto [a, b] = tcp_pair();
  std::string got(4, '\0');
  EXPECT_EQ(a.send(buffer("ping", 4)), 4u);
  EXPECT_EQ(b.receive(buffer(got)), 4u);
  EXPECT_EQ(got, "ping");
  a.close();
  error_code ec;
  EXPECT_EQ(b.read_some(buffer(got), ec), 0u);
  EXPECT_EQ(ec, weft::error::eof);
  EXPECT_THROW(b.read_some(buffer(got)), weft::system_error);
}

TEST_P(stream_socket, synchronous_read_blocks_although_the_descriptor_does_not) {
  auto [a, b] = tcp_pair();
  b.native_non_blocking(true);
  std::string got(4, '\0');
  std::atomic<bool> about_to_read{false};
  std::thread writer([&, &peer = a] {
    while (!about_to_read)
      std::this_thread::yield();
    peer.write_some(buffer("late", 4));
  });
  about_to_read = true;
  EXPECT_EQ(b.read_some(buffer(got)), 4u);
  writer.join();
}

TEST_P(stream_socket, non_blocking_ends_with_the_native_mode_that_it_brought) {
  auto [a, b] = tcp_pair();
  const int before = ::fcntl(b.native_handle(), F_GETFL);
  b.native_non_blocking(false);
  b.non_blocking(true);
  EXPECT_TRUE(b.native_non_blocking());
  b.non_blocking(false);
  EXPECT_FALSE(b.native_non_blocking());
  EXPECT_EQ(::fcntl(b.native_handle(), F_GETFL), before & ~O_NONBLOCK);
  b.native_non_blocking(true);
  b.non_blocking(true);
  b.non_blocking(false);
  EXPECT_TRUE(b.native_non_blocking()) << "the user's own";
}

TEST_P(stream_socket, synchronous_calls_of_a_non_blocking_socket_fail_with_would_block) {
  auto [a, b] = tcp_pair();
  b.non_blocking(true);
  EXPECT_TRUE(b.non_blocking());
  std::string got(4, '\0');
  error_code ec;
  EXPECT_EQ(b.read_some(buffer(got), ec), 0u);
  EXPECT_EQ(ec, weft::error::would_block);
  b.wait(tcp::socket::wait_read, ec);
  EXPECT_EQ(ec, weft::error::would_block);
  b.native_non_blocking(false, ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  transfer received;
  b.async_read_some(buffer(got), received.handler());
  a.write_some(buffer("yes", 3));
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 3u);
  b.non_blocking(false);
  EXPECT_FALSE(b.non_blocking());
}

TEST_P(stream_socket, peek_leaves_the_bytes_in_place) {
  auto [a, b] = unix_pair();
  std::string got(8, '\0');
  a.write_some(buffer("peek", 4));
  transfer peeked, read;
  b.async_receive(buffer(got), tcp::socket::message_peek, peeked.handler());
  run();
  EXPECT_EQ(peeked.bytes(), 4u);
  EXPECT_EQ(b.available(), 4u);
  b.async_receive(buffer(got), read.handler());
  run();
  EXPECT_EQ(read.bytes(), 4u);
  EXPECT_EQ(b.available(), 0u);
}

TEST_P(stream_socket, out_of_band_byte_does_not_hide_what_follows) {
  auto [a, b] = tcp_pair();
  std::string got(64, '\0');
  transfer urgent;
  char mark = 0;
  b.async_receive(buffer(&mark, 1), tcp::socket::message_out_of_band, urgent.handler());
  a.write_some(buffer("abc", 3));
  a.send(buffer("X", 1), tcp::socket::message_out_of_band);
  a.write_some(buffer("def", 3));
  run();
  EXPECT_FALSE(urgent.ec());
  EXPECT_EQ(mark, 'X');
  std::string all;
  while (all.size() < 6) {
    transfer part;
    b.async_read_some(buffer(got), part.handler());
    run();
    ASSERT_FALSE(part.ec());
    all += got.substr(0, part.bytes());
  }
  EXPECT_EQ(all, "abcdef");
}

// ---- the ends of a connection

TEST_P(stream_socket, reading_after_the_peer_has_finished_reports_eof) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  a.write_some(buffer("end", 3));
  a.shutdown(tcp::socket::shutdown_send);
  transfer first, second;
  b.async_read_some(buffer(got), first.handler());
  b.async_read_some(buffer(got), second.handler());
  run();
  EXPECT_EQ(first.bytes(), 3u);
  EXPECT_FALSE(first.ec());
  EXPECT_EQ(second.ec(), weft::error::eof);
  EXPECT_EQ(second.bytes(), 0u);
}

TEST_P(stream_socket, half_closed_connection_still_carries_the_other_direction) {
  auto [a, b] = tcp_pair();
  a.shutdown(tcp::socket::shutdown_send);
  std::string got(8, '\0');
  transfer at_b, sent, at_a;
  b.async_read_some(buffer(got), at_b.handler());
  run();
  EXPECT_EQ(at_b.ec(), weft::error::eof);
  b.async_write_some(buffer("back", 4), sent.handler());
  a.async_read_some(buffer(got), at_a.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(got.substr(0, at_a.bytes()), "back");
}

TEST_P(stream_socket, pending_read_ends_with_eof_when_its_own_side_is_shut_down) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  transfer received;
  b.async_read_some(buffer(got), received.handler());
  context.poll();
  b.shutdown(tcp::socket::shutdown_receive);
  run();
  EXPECT_EQ(received.ec(), weft::error::eof);
}

TEST_P(stream_socket, reset_by_the_peer_is_reported_by_reads) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  transfer received;
  b.async_read_some(buffer(got), received.handler());
  context.poll();
  a.set_option(tcp::socket::linger(true, 0));
  a.close();
  run();
  EXPECT_EQ(received.ec(), weft::error::connection_reset);
}

TEST_P(stream_socket, writing_to_a_closed_peer_reports_an_error_and_raises_no_signal) {
  auto [a, b] = unix_pair();
  b.close();
  transfer sent, gathered;
  a.async_write_some(buffer("x", 1), sent.handler());
  const std::array<const_buffer, 2> two{buffer("x", 1), buffer("y", 1)};
  a.async_write_some(two, gathered.handler());
  run();
  EXPECT_EQ(sent.ec(), weft::error::broken_pipe);
  EXPECT_EQ(gathered.ec(), weft::error::broken_pipe);
  error_code ec;
  a.write_some(buffer("x", 1), ec);
  EXPECT_EQ(ec, weft::error::broken_pipe);
}

TEST_P(stream_socket, write_past_the_peers_patience_is_partial) {
  auto [a, b] = unix_pair();
  const std::string much(8 << 20, 'x');
  transfer sent;
  a.async_write_some(buffer(much), sent.handler());
  run_until_done(sent);
  EXPECT_FALSE(sent.ec());
  EXPECT_GT(sent.bytes(), 0u);
  EXPECT_LT(sent.bytes(), much.size());
}

TEST_P(stream_socket, write_waits_until_the_peer_has_read) {
  auto [a, b] = unix_pair();
  const std::string much(1 << 20, 'x');
  a.non_blocking(true);
  error_code ec;
  std::size_t filled = 0;
  while (!ec)
    filled += a.write_some(buffer(much), ec);
  ASSERT_EQ(ec, weft::error::would_block);
  transfer sent;
  a.async_write_some(buffer("last", 4), sent.handler());
  context.poll();
  EXPECT_EQ(sent.calls, 0);
  std::string got(1 << 20, '\0');
  std::size_t read = 0;
  while (read < filled)
    read += b.read_some(buffer(got));
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 4u);
}

// ---- zero-length operations

TEST_P(stream_socket, empty_transfers_succeed_at_once_but_not_inline) {
  auto [a, b] = tcp_pair();
  transfer blocked, read, written;
  std::string got(8, '\0');
  b.async_read_some(buffer(got), blocked.handler());
  b.async_read_some(mutable_buffer(), read.handler());
  a.async_write_some(std::array<const_buffer, 2>(), written.handler());
  EXPECT_EQ(read.calls + written.calls, 0);
  run_until_done(read);
  run_until_done(written);
  EXPECT_FALSE(read.ec());
  EXPECT_FALSE(written.ec());
  EXPECT_EQ(blocked.calls, 0);
  error_code ec;
  EXPECT_EQ(b.read_some(mutable_buffer(), ec), 0u);
  EXPECT_FALSE(ec);
  EXPECT_EQ(b.write_some(const_buffer(), ec), 0u);
  EXPECT_FALSE(ec);
  b.close();
  run();
}

// ---- closed sockets, foreign descriptors

TEST_P(stream_socket, every_call_on_a_closed_socket_reports_bad_descriptor) {
  tcp::socket s(context);
  std::string got(8, '\0');
  error_code ec;
  const auto check = [&](const char* what) {
    EXPECT_EQ(ec, weft::error::bad_descriptor) << what;
    ec = error_code();
  };
  s.read_some(buffer(got), ec), check("read_some");
  s.write_some(buffer(got), ec), check("write_some");
  s.read_some(mutable_buffer(), ec), check("empty read_some");
  s.bind(loopback(), ec), check("bind");
  s.shutdown(tcp::socket::shutdown_both, ec), check("shutdown");
  s.set_option(tcp::no_delay(true), ec), check("set_option");
  tcp::no_delay option;
  s.get_option(option, ec), check("get_option");
  s.non_blocking(true, ec), check("non_blocking");
  s.native_non_blocking(true, ec), check("native_non_blocking");
  s.local_endpoint(ec), check("local_endpoint");
  s.remote_endpoint(ec), check("remote_endpoint");
  s.available(ec), check("available");
  s.at_mark(ec), check("at_mark");
  s.cancel(ec), check("cancel");
  s.wait(tcp::socket::wait_read, ec), check("wait");
  EXPECT_EQ(s.release(ec), -1), check("release");
  tcp::socket::bytes_readable command;
  s.io_control(command, ec), check("io_control");
  EXPECT_EQ(s.native_handle(), -1);

  transfer read, written, empty;
  status waited;
  s.async_read_some(buffer(got), read.handler());
  s.async_write_some(buffer(got), written.handler());
  s.async_write_some(const_buffer(), empty.handler());
  s.async_wait(tcp::socket::wait_write, waited.handler());
  EXPECT_EQ(read.calls + written.calls + waited.calls, 0);
  run();
  EXPECT_EQ(read.ec(), weft::error::bad_descriptor);
  EXPECT_EQ(written.ec(), weft::error::bad_descriptor);
  EXPECT_EQ(empty.ec(), weft::error::bad_descriptor);
  EXPECT_EQ(waited.ec(), weft::error::bad_descriptor);
}

TEST_P(stream_socket, closing_twice_succeeds) {
  tcp::socket s(context, tcp::v4());
  error_code ec = weft::error::eof;
  s.close(ec);
  EXPECT_FALSE(ec);
  s.close(ec);
  EXPECT_FALSE(ec);
  EXPECT_FALSE(s.is_open());
}

TEST_P(stream_socket, opening_twice_fails_with_already_open) {
  tcp::socket s(context, tcp::v4());
  error_code ec;
  s.open(tcp::v6(), ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_THROW(s.open(tcp::v4()), weft::system_error);
}

TEST_P(stream_socket, descriptor_that_is_no_socket_is_refused_and_stays_the_callers) {
  int fds[2];
  ASSERT_EQ(::pipe(fds), 0);
  tcp::socket s(context);
  error_code ec;
  s.assign(tcp::v4(), fds[0], ec);
  EXPECT_EQ(ec, weft::error::not_socket);
  EXPECT_FALSE(s.is_open());
  EXPECT_GE(::fcntl(fds[0], F_GETFD), 0);
  ::close(fds[0]);
  ::close(fds[1]);
  s.assign(tcp::v4(), fds[0], ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

TEST_P(stream_socket, socket_of_another_type_is_refused) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  tcp::socket s(context);
  error_code ec;
  s.assign(tcp::v4(), fd, ec);
  EXPECT_EQ(ec.value(), EPROTOTYPE);
  ::close(fd);
}

TEST_P(stream_socket, endpoint_of_the_wrong_protocol_is_refused) {
  tcp::socket s(context, tcp::v4());
  error_code ec;
  s.bind(tcp::endpoint(tcp::v6(), 0), ec);
  EXPECT_TRUE(ec);
  weft::generic::stream_protocol::socket g(context);
  g.open(weft::generic::stream_protocol(12345, 0), ec);
  EXPECT_EQ(ec, weft::error::address_family_not_supported);
  g.open(weft::generic::stream_protocol(AF_INET, IPPROTO_UDP), ec);
  EXPECT_TRUE(ec);
}

TEST_P(stream_socket, released_descriptor_works_on_and_is_in_the_mode_it_was) {
  auto [a, b] = tcp_pair();
  const int fd = a.native_handle();
  transfer pending;
  std::string got(8, '\0');
  a.async_read_some(buffer(got), pending.handler());
  EXPECT_EQ(a.release(), fd);
  EXPECT_FALSE(a.is_open());
  run();
  EXPECT_EQ(pending.ec(), weft::error::operation_aborted);
  EXPECT_EQ(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
  tcp::socket again(context, tcp::v4(), fd);
  b.write_some(buffer("on", 2));
  EXPECT_EQ(again.read_some(buffer(got)), 2u);
}

TEST_P(stream_socket, descriptors_are_close_on_exec) {
  auto [a, b] = tcp_pair();
  auto [c, d] = unix_pair();
  for (const int fd : {a.native_handle(), b.native_handle(), c.native_handle(), d.native_handle()})
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

// ---- moving

TEST_P(stream_socket, pending_read_survives_that_its_socket_moves) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  transfer received;
  b.async_read_some(buffer(got), received.handler());
  tcp::socket moved(std::move(b));
  EXPECT_FALSE(b.is_open());
  a.write_some(buffer("moved", 5));
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 5u);
  b = std::move(moved);
  EXPECT_TRUE(b.is_open());
}

TEST_P(stream_socket, tcp_socket_becomes_a_generic_one) {
  auto [a, b] = tcp_pair();
  weft::generic::stream_protocol::socket g(std::move(a));
  EXPECT_FALSE(a.is_open());
  EXPECT_EQ(g.write_some(buffer("generic", 7)), 7u);
  std::string got(16, '\0');
  EXPECT_EQ(b.read_some(buffer(got)), 7u);
  g = std::move(b);
  EXPECT_TRUE(g.is_open());
}

TEST_P(stream_socket, socket_on_a_concrete_executor_converts_to_the_default_one) {
  using socket_type = tcp::socket::rebind_executor<weft::io_context::executor_type>::other;
  socket_type s(context, tcp::v4());
  static_assert(std::is_same_v<socket_type::executor_type, weft::io_context::executor_type>);
  tcp::socket t(std::move(s));
  EXPECT_TRUE(t.is_open());
  EXPECT_EQ(&t.lowest_layer().get_executor(), &t.get_executor());
}

// ---- order, cancellation, closing

TEST_P(stream_socket, reads_are_performed_in_the_order_they_were_started) {
  auto [a, b] = unix_pair();
  std::vector<std::string> got(8, std::string(1, '\0'));
  std::vector<int> order;
  for (int i = 0; i != 8; ++i)
    b.async_read_some(buffer(got[static_cast<std::size_t>(i)]),
                      [&order, i](error_code, std::size_t) { order.push_back(i); });
  context.poll();
  a.write_some(buffer("01234567", 8));
  run();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  for (std::size_t i = 0; i != 8; ++i)
    EXPECT_EQ(got[i], std::to_string(i));
}

TEST_P(stream_socket, cancel_ends_pending_operations_with_operation_aborted) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  transfer first, second;
  status waited;
  b.async_read_some(buffer(got), first.handler());
  b.async_read_some(buffer(got), second.handler());
  b.async_wait(tcp::socket::wait_error, waited.handler());
  context.poll();
  b.cancel();
  run();
  EXPECT_EQ(first.ec(), weft::error::operation_aborted);
  EXPECT_EQ(second.ec(), weft::error::operation_aborted);
  EXPECT_EQ(waited.ec(), weft::error::operation_aborted);
  EXPECT_TRUE(b.is_open());
  a.write_some(buffer("on", 2));
  EXPECT_EQ(b.read_some(buffer(got)), 2u);
}

TEST_P(stream_socket, close_from_another_thread_ends_pending_operations) {
  auto [a, b] = tcp_pair();
  std::string got(8, '\0');
  transfer received;
  b.async_read_some(buffer(got), received.handler());
  std::thread closer([&, &s = b] { s.close(); });
  run();
  closer.join();
  EXPECT_EQ(received.ec(), weft::error::operation_aborted);
}

TEST_P(stream_socket, cancels_from_other_threads_lose_no_byte) {
  auto [a, b] = unix_pair();
  constexpr int rounds = 200;
  std::atomic<bool> stop{false};
  std::thread canceller([&, &s = b] {
    while (!stop) {
      s.cancel();
      std::this_thread::yield();
    }
  });
  std::string all;
  char byte = 0;
  for (int i = 0; i != rounds; ++i) {
    a.write_some(buffer("x", 1));
    transfer received;
    b.async_read_some(buffer(&byte, 1), received.handler());
    run_until_done(received);
    if (received.ec())
      EXPECT_EQ(received.ec(), weft::error::operation_aborted);
    else
      all += byte;
  }
  stop = true;
  canceller.join();
  EXPECT_EQ(all.size() + b.available(), static_cast<std::size_t>(rounds));
}

TEST_P(stream_socket, destroying_a_socket_aborts_what_is_pending) {
  transfer received;
  std::string got(8, '\0');
  {
    auto [a, b] = tcp_pair();
    b.async_read_some(buffer(got), received.handler());
    context.poll();
  }
  run();
  EXPECT_EQ(received.ec(), weft::error::operation_aborted);
}

TEST_P(stream_socket, handler_may_own_the_socket_it_waits_on_when_the_context_goes) {
  struct session {
    explicit session(tcp::socket s) : socket(std::move(s)) {}
    tcp::socket socket;
    char data[16] = {};
  };
  std::weak_ptr<session> watched;
  std::optional<weft::io_context> other;
  other.emplace(make_context_options(GetParam()));
  {
    tcp::acceptor acceptor(*other, loopback());
    tcp::socket client(*other);
    client.connect(acceptor.local_endpoint());
    auto kept = std::make_shared<session>(acceptor.accept());
    watched = kept;
    kept->socket.async_read_some(buffer(kept->data), [kept](error_code, std::size_t) { FAIL(); });
    kept->socket.async_wait(tcp::socket::wait_error, [kept](error_code) { FAIL(); });
    auto writer = std::make_shared<session>(std::move(client));
    writer->socket.async_write_some(buffer(writer->data),
                                    [writer](error_code, std::size_t) { FAIL(); });
  }
  EXPECT_FALSE(watched.expired());
  other.reset();
  EXPECT_TRUE(watched.expired());
}

TEST_P(stream_socket, cancellation_slot_ends_one_operation_alone) {
  auto [a, b] = tcp_pair();
  std::string x(8, '\0'), y(8, '\0');
  transfer first, second;
  weft::cancellation_signal signal;
  struct handler {
    using cancellation_slot_type = weft::cancellation_slot;
    cancellation_slot_type get_cancellation_slot() const noexcept { return slot; }
    void operator()(error_code ec, std::size_t n) { to->handler()(ec, n); }
    weft::cancellation_slot slot;
    transfer* to;
  };
  b.async_read_some(buffer(x), handler{signal.slot(), &first});
  b.async_read_some(buffer(y), second.handler());
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  run_until_done(first);
  EXPECT_EQ(first.ec(), weft::error::operation_aborted);
  EXPECT_EQ(second.calls, 0);
  a.write_some(buffer("two", 3));
  run();
  EXPECT_FALSE(second.ec());
  EXPECT_EQ(y.substr(0, second.bytes()), "two");
}

// ---- waiting

TEST_P(stream_socket, wait_tells_readiness_and_takes_nothing) {
  auto [a, b] = tcp_pair();
  status readable, writable;
  b.async_wait(tcp::socket::wait_read, readable.handler());
  b.async_wait(tcp::socket::wait_write, writable.handler());
  run_until_done(writable);
  EXPECT_FALSE(writable.ec());
  EXPECT_EQ(readable.calls, 0);
  a.write_some(buffer("xy", 2));
  run();
  EXPECT_FALSE(readable.ec());
  EXPECT_EQ(b.available(), 2u);
  b.wait(tcp::socket::wait_read);
  b.wait(tcp::socket::wait_write);
}

TEST_P(stream_socket, waits_repeat_as_long_as_there_is_something_to_read) {
  auto [a, b] = unix_pair();
  a.write_some(buffer("ab", 2));
  char byte = 0;
  for (int i = 0; i != 2; ++i) {
    status readable;
    b.async_wait(tcp::socket::wait_read, readable.handler());
    run();
    EXPECT_FALSE(readable.ec());
    EXPECT_EQ(::recv(b.native_handle(), &byte, 1, MSG_DONTWAIT), 1);
  }
  status waiting;
  b.async_wait(tcp::socket::wait_read, waiting.handler());
  context.restart();
  context.poll();
  EXPECT_EQ(waiting.calls, 0);
  b.cancel();
  run();
  EXPECT_EQ(waiting.ec(), weft::error::operation_aborted);
}

// ---- executors

TEST_P(stream_socket, immediate_executor_runs_what_finished_at_once) {
  auto [a, b] = tcp_pair();
  struct handler {
    using immediate_executor_type = weft::inline_executor;
    immediate_executor_type get_immediate_executor() const noexcept { return {}; }
    void operator()(error_code ec, std::size_t n) { to->handler()(ec, n); }
    transfer* to;
  };
  transfer written;
  a.async_write_some(buffer("now", 3), handler{&written});
  EXPECT_TRUE(written.done());
  EXPECT_EQ(written.bytes(), 3u);
}

// The handler ends the signal that its slot is of, as that of a timeout does.
TEST_P(stream_socket, composed_read_ends_outside_its_call_though_its_steps_end_at_once) {
  auto [a, b] = tcp_pair();
  a.write_some(buffer("abcdef", 6));
  auto signal = std::make_unique<weft::cancellation_signal>();
  transfer received;
  std::string got;
  weft::async_read_until(
      b, weft::dynamic_buffer(got, 4), '\n',
      weft::bind_immediate_executor(
          weft::inline_executor(),
          weft::bind_cancellation_slot(signal->slot(), [&](error_code ec, std::size_t n) {
            signal.reset();
            received.handler()(ec, n);
          })));
  EXPECT_EQ(received.calls, 0);
  run();
  EXPECT_EQ(received.calls, 1);
  EXPECT_EQ(received.ec(), weft::error::not_found);
  EXPECT_EQ(got, "abcd");
}

TEST_P(stream_socket, handler_runs_in_the_context_of_its_associated_executor) {
  auto [a, b] = tcp_pair();
  weft::io_context other;
  transfer received;
  std::string got(8, '\0');
  b.async_read_some(buffer(got), weft::bind_executor(other, received.handler()));
  a.write_some(buffer("there", 5));
  run();
  EXPECT_EQ(received.calls, 0);
  other.run();
  EXPECT_EQ(received.bytes(), 5u);
}

TEST_P(stream_socket, socket_on_a_strand_never_runs_two_handlers_at_once) {
  using strand_type = weft::strand<weft::io_context::executor_type>;
  using socket_type = tcp::socket::rebind_executor<strand_type>::other;
  auto [a, client] = tcp_pair();
  socket_type s(weft::make_strand(context), tcp::v4(), a.release());
  std::atomic<int> inside{0};
  int handled = 0;  // guarded by the strand
  std::array<char, 4> bytes{};
  const auto count = [&](auto&&...) {
    EXPECT_EQ(++inside, 1);
    ++handled;
    --inside;
  };
  for (std::size_t i = 0; i != 100; ++i) {
    s.async_read_some(buffer(&bytes[i % 2], 1), count);
    s.async_write_some(buffer(&bytes[2 + i % 2], 1), count);
    s.async_wait(socket_type::wait_write, count);
  }
  client.write_some(buffer(std::string(100, 'x')));
  context.restart();
  std::thread helper([&] { context.run(); });
  context.run();
  helper.join();
  EXPECT_EQ(handled, 300);
}

TEST_P(stream_socket, options_are_read_as_they_were_set) {
  tcp::socket s(context, tcp::v4());
  s.set_option(tcp::no_delay(true));
  tcp::no_delay no_delay;
  s.get_option(no_delay);
  EXPECT_TRUE(no_delay.value());
  s.set_option(tcp::socket::linger(true, 30));
  tcp::socket::linger linger;
  s.get_option(linger);
  EXPECT_TRUE(linger.enabled());
  EXPECT_EQ(linger.timeout(), 30);
  tcp::socket::send_buffer_size size;
  s.get_option(size);
  EXPECT_GT(size.value(), 0);
  EXPECT_FALSE(s.at_mark());
}

WEFT_INSTANTIATE_BACKENDS(stream_socket);

}  // namespace
