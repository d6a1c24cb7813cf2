// SPDX-License-Identifier: BSL-1.0
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/basic_raw_socket.hpp>
#include <weft/net/basic_seq_packet_socket.hpp>
#include <weft/net/generic_protocol.hpp>
#include <weft/net/icmp_protocol.hpp>
#include <weft/net/multicast.hpp>
#include <weft/net/udp_protocol.hpp>

#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;
using udp = weft::ip::udp;

class datagram_socket : public socket_test {
 protected:
  udp::socket bound() {
    return udp::socket(context, udp::endpoint(weft::ip::address_v4::loopback(), 0));
  }
};

TEST_P(datagram_socket, message_arrives_with_the_address_of_its_sender) {
  udp::socket a = bound(), b = bound();
  transfer sent, received;
  std::string got(16, '\0');
  udp::endpoint from;
  b.async_receive_from(buffer(got), from, received.handler());
  a.async_send_to(buffer("hello", 5), b.local_endpoint(), sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 5u);
  EXPECT_EQ(from, a.local_endpoint());
}

TEST_P(datagram_socket, synchronous_calls_do_the_same) {
  udp::socket a = bound(), b = bound();
  EXPECT_EQ(a.send_to(buffer("sync", 4), b.local_endpoint()), 4u);
  std::string got(16, '\0');
  udp::endpoint from;
  EXPECT_EQ(b.receive_from(buffer(got), from), 4u);
  EXPECT_EQ(from, a.local_endpoint());
  b.connect(a.local_endpoint());
  EXPECT_EQ(b.send(buffer("back", 4)), 4u);
  EXPECT_EQ(a.available(), 4u);
  EXPECT_EQ(a.receive(buffer(got)), 4u);
}

TEST_P(datagram_socket, the_error_queue_is_waited_for_beside_ordinary_messages) {
  udp::socket a = bound(), b = bound();
  const int on = 1;
  ASSERT_EQ(::setsockopt(a.native_handle(), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
  b.send_to(buffer("ordinary", 8), a.local_endpoint());
  pollfd loop{context.poll_descriptor(), POLLIN, 0};
  transfer received;
  std::string text(16, '\0');
  a.async_receive(buffer(text), MSG_ERRQUEUE, received.handler());
  for (int polls = 0; ::poll(&loop, 1, 0) == 1 || polls == 0; ++polls) {
    ASSERT_LT(polls, 1000) << "it does not become quiet";
    context.poll();
  }
  EXPECT_EQ(received.calls, 0);
  const udp::socket holder = refusing_socket();
  const udp::endpoint nobody = holder.local_endpoint();
  a.send_to(buffer("lost", 4), nobody);
  run_until_done(received);
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(text.substr(0, received.bytes()), "lost");
}

TEST_P(datagram_socket, messages_keep_their_bounds_and_may_be_empty) {
  udp::socket a = bound(), b = bound();
  a.connect(b.local_endpoint());
  transfer sends[3];
  a.async_send(buffer("one", 3), sends[0].handler());
  a.async_send(weft::const_buffer(), sends[1].handler());
  const std::vector<weft::const_buffer> parts{buffer("th", 2), buffer("ree", 3)};
  a.async_send(parts, sends[2].handler());
  run();
  EXPECT_EQ(sends[1].bytes(), 0u);
  EXPECT_FALSE(sends[1].ec());
  EXPECT_EQ(sends[2].bytes(), 5u);
  std::string got(16, '\0');
  for (const std::size_t size : {3u, 0u, 5u}) {
    transfer received;
    b.async_receive(buffer(got), received.handler());
    run();
    EXPECT_FALSE(received.ec());
    EXPECT_EQ(received.bytes(), size);
  }
  EXPECT_EQ(got.substr(0, 5), "three");
}

TEST_P(datagram_socket, message_longer_than_the_buffers_is_cut) {
  udp::socket a = bound(), b = bound();
  a.send_to(buffer("abcdefgh", 8), b.local_endpoint());
  std::array<char, 2> x{}, y{};
  const std::array<weft::mutable_buffer, 2> into{buffer(x), buffer(y)};
  udp::endpoint from;
  transfer received;
  b.async_receive_from(into, from, received.handler());
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 4u);
  EXPECT_EQ(b.available(), 0u);
}

TEST_P(datagram_socket, message_too_long_to_be_sent_is_refused) {
  udp::socket a = bound(), b = bound();
  const std::string much(100000, 'x');
  transfer sent;
  a.async_send_to(buffer(much), b.local_endpoint(), sent.handler());
  run();
  EXPECT_EQ(sent.ec(), weft::error::message_size);
}

TEST_P(datagram_socket, refusal_of_an_earlier_message_is_reported) {
  const udp::socket holder = refusing_socket();
  const udp::endpoint nobody = holder.local_endpoint();
  udp::socket a = bound();
  a.connect(nobody);
  a.send(buffer("x", 1));
  std::string got(16, '\0');
  transfer received;
  a.async_receive(buffer(got), received.handler());
  run();
  EXPECT_EQ(received.ec(), weft::error::connection_refused);
}

TEST_P(datagram_socket, sending_without_an_address_is_refused) {
  udp::socket a = bound();
  error_code ec;
  a.send(buffer("x", 1), 0, ec);
  EXPECT_EQ(ec.value(), EDESTADDRREQ);
}

TEST_P(datagram_socket, cancelled_receive_leaves_the_endpoint_as_it_was) {
  udp::socket a = bound();
  const udp::endpoint before(weft::ip::address_v4::loopback(), 7);
  udp::endpoint from = before;
  std::string got(16, '\0');
  transfer received;
  a.async_receive_from(buffer(got), from, received.handler());
  context.poll();
  a.cancel();
  run();
  EXPECT_EQ(received.ec(), weft::error::operation_aborted);
  EXPECT_EQ(from, before);
}

TEST_P(datagram_socket, unix_datagrams_tell_names_and_their_absence) {
  using protocol = weft::local::datagram_protocol;
  const std::string name = std::string("\0weft-dgram-", 12) + std::to_string(::getpid());
  protocol::socket named(context, protocol::endpoint(name)), nameless(context, protocol());
  nameless.send_to(buffer("x", 1), named.local_endpoint());
  std::string got(4, '\0');
  protocol::endpoint from("/somewhere");
  transfer received;
  named.async_receive_from(buffer(got), from, received.handler());
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(from.path(), "");
  protocol::socket a(context), b(context);
  weft::local::connect_pair(a, b);
  EXPECT_EQ(a.send(buffer("pair", 4)), 4u);
  EXPECT_EQ(b.receive(buffer(got)), 4u);
}

TEST_P(datagram_socket, multicast_reaches_a_member_of_the_group) {
  const auto group = weft::ip::make_address_v4("239.255.70.1");
  udp::socket receiver(context, udp::v4()), sender(context, udp::v4());
  receiver.set_option(udp::socket::reuse_address(true));
  receiver.bind(udp::endpoint(group, 0));
  error_code ec;
  receiver.set_option(weft::ip::multicast::join_group(group, weft::ip::address_v4::loopback()), ec);
  if (ec)
    GTEST_SKIP() << "the loopback device takes no group here: " << ec.message();
  sender.set_option(weft::ip::multicast::outbound_interface(weft::ip::address_v4::loopback()));
  sender.set_option(weft::ip::multicast::enable_loopback(true));
  sender.send_to(buffer("all", 3), udp::endpoint(group, receiver.local_endpoint().port()), 0, ec);
  if (ec)
    GTEST_SKIP() << "no route to the group here: " << ec.message();
  std::string got(8, '\0');
  udp::endpoint from;
  transfer received;
  receiver.async_receive_from(buffer(got), from, received.handler());
  run();
  EXPECT_EQ(got.substr(0, received.bytes()), "all");
}

TEST_P(datagram_socket, converts_to_a_generic_socket) {
  weft::generic::datagram_protocol::socket g(bound());
  EXPECT_EQ(g.local_endpoint().protocol().family(), AF_INET);
  udp::socket b = bound();
  g.send_to(buffer("x", 1), b.local_endpoint());
  std::string got(4, '\0');
  EXPECT_EQ(b.receive(buffer(got)), 1u);
}

TEST_P(datagram_socket, pending_receive_survives_a_move_and_ends_with_close) {
  udp::socket a = bound(), b = bound();
  std::string got(4, '\0');
  transfer first, second;
  a.async_receive(buffer(got), first.handler());
  a.async_receive(buffer(got), second.handler());
  udp::socket moved(std::move(a));
  b.send_to(buffer("x", 1), moved.local_endpoint());
  run_until_done(first);
  EXPECT_FALSE(first.ec());
  moved.close();
  run();
  EXPECT_EQ(second.ec(), weft::error::operation_aborted);
}

TEST_P(datagram_socket, send_does_not_spin_while_its_destination_has_no_room) {
  using protocol = weft::local::datagram_protocol;
  const protocol::endpoint to(std::string("\0weft-no-room-", 14) + std::to_string(::getpid()));
  protocol::socket a(context, protocol()), b(context, to);
  error_code ec;
  a.non_blocking(true);
  int queued = 0;
  for (; !ec; ++queued)
    a.send_to(buffer("x", 1), to, 0, ec);
  ASSERT_EQ(ec, weft::error::would_block);
  --queued;

  transfer sent;
  a.async_send_to(buffer("last", 4), to, sent.handler());
  pollfd readable{context.poll_descriptor(), POLLIN, 0};
  for (int polls = 0; ::poll(&readable, 1, 0) != 0; ++polls) {
    ASSERT_LT(polls, 1000) << "it does not become quiet";
    context.poll();
  }
  EXPECT_EQ(sent.calls, 0);

  std::string got(16, '\0');
  for (; queued != 0; --queued)
    b.receive(buffer(got));
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(b.receive(buffer(got)), 4u);
}

// ---- records

TEST_P(datagram_socket, seq_packet_socket_keeps_records_and_gets_an_empty_one_at_the_end) {
  using protocol = weft::local::seq_packet_protocol;
  protocol::socket a(context), b(context);
  weft::local::connect_pair(a, b);
  EXPECT_EQ(a.send(buffer("first", 5), 0), 5u);
  transfer sent, received, cut, ended;
  a.async_send(std::array<weft::const_buffer, 2>{buffer("sec", 3), buffer("ond", 3)}, 0,
               sent.handler());
  std::string got(16, '\0');
  int flags = -1;
  b.async_receive(buffer(got), flags, received.handler());
  run();
  EXPECT_EQ(received.bytes(), 5u);
  EXPECT_EQ(flags & MSG_TRUNC, 0);
  b.async_receive(buffer(got, 2), 0, flags, cut.handler());
  run();
  EXPECT_EQ(cut.bytes(), 2u);
  EXPECT_NE(flags & MSG_TRUNC, 0);
  b.async_receive(buffer(got), flags, ended.handler());
  a.close();
  run();
  EXPECT_EQ(ended.bytes(), 0u);
  error_code ec;
  EXPECT_EQ(b.receive(buffer(got), 0, flags, ec), 0u);
  EXPECT_FALSE(ec);
}

// ---- packets

TEST_P(datagram_socket, raw_socket_hears_its_own_echo) {
  using icmp = weft::ip::icmp;
  icmp::socket s(context);
  error_code ec;
  s.open(icmp::v4(), ec);
  if (ec == weft::error::no_permission || ec == weft::error::access_denied)
    GTEST_SKIP() << "raw sockets need CAP_NET_RAW";
  ASSERT_FALSE(ec);
  // An echo request: type 8, code 0, checksum of just these bytes.
  const std::array<unsigned char, 8> request{8, 0, 0xf7, 0xfe, 0, 0, 0, 1};
  const icmp::endpoint here(weft::ip::address_v4::loopback(), 0);
  transfer sent, received;
  s.async_send_to(buffer(request), here, sent.handler());
  std::array<unsigned char, 64> packet{};
  icmp::endpoint from;
  s.async_receive_from(buffer(packet), from, received.handler());
  run();
  EXPECT_EQ(sent.bytes(), request.size());
  EXPECT_EQ(from.address(), here.address());
  EXPECT_GE(received.bytes(), 20u + request.size());
  EXPECT_EQ(packet[0] >> 4, 4);
}

WEFT_INSTANTIATE_BACKENDS(datagram_socket);

}  // namespace
