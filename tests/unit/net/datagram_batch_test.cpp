// SPDX-License-Identifier: BSL-1.0
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <linux/net_tstamp.h>

#include <weft/async/bind_executor.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/descriptor_passing.hpp>
#include <weft/net/generic_protocol.hpp>
#include <weft/net/udp_protocol.hpp>

#include "support/cancellable.hpp"
#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;
using udp = weft::ip::udp;
using unix_datagram = weft::local::datagram_protocol;

/// Room for a batch, and what came.
template <class Protocol>
struct room {
  using incoming = typename Protocol::socket::incoming_datagram;

  explicit room(std::size_t count, std::size_t each = 2048) : bytes(count * each) {
    for (std::size_t i = 0; i != count; ++i)
      batch.push_back({buffer(bytes.data() + i * each, each)});
  }
  std::string text(std::size_t i) const {
    return {static_cast<const char*>(batch[i].received().data()), batch[i].received().size()};
  }

  std::vector<char> bytes;
  std::vector<incoming> batch;
};

/// Datagrams with the texts, to one destination.
template <class Protocol>
struct letters {
  using outgoing = typename Protocol::socket::outgoing_datagram;
  using endpoint = typename Protocol::endpoint;

  explicit letters(std::vector<std::string> t, const endpoint* to = nullptr) : texts(std::move(t)) {
    for (const std::string& text : texts)
      batch.push_back({buffer(text), to});
  }

  std::vector<std::string> texts;
  std::vector<outgoing> batch;
};

std::vector<std::string> numbers(std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i != count; ++i)
    result.push_back(std::to_string(1000 + i));
  return result;
}

/// UNIX-domain datagrams, of which the endpoints count how often their addresses are asked for.
class counted_datagram {
 public:
  class endpoint : public weft::local::basic_endpoint<counted_datagram> {
    using base = weft::local::basic_endpoint<counted_datagram>;

   public:
    using base::base;
    using base::data;
    const data_type* data() const noexcept {
      ++asked;
      return base::data();
    }

    static inline int asked = 0;
  };
  using socket = weft::basic_datagram_socket<counted_datagram>;

  int family() const noexcept { return AF_UNIX; }
  int type() const noexcept { return SOCK_DGRAM; }
  int protocol() const noexcept { return 0; }
};

class datagram_batch : public socket_test {
 protected:
  udp::socket bound() {
    return udp::socket(context, udp::endpoint(weft::ip::address_v4::loopback(), 0));
  }
  std::pair<unix_datagram::socket, unix_datagram::socket> unix_datagram_pair() {
    std::pair<unix_datagram::socket, unix_datagram::socket> pair{context, context};
    weft::local::connect_pair(pair.first, pair.second);
    return pair;
  }
  static unix_datagram::endpoint abstract(const char* name) {
    return unix_datagram::endpoint(std::string("\0weft-batch-", 12) + name +
                                   std::to_string(::getpid()));
  }
};

TEST_P(datagram_batch, arrives_in_order_with_sizes_and_senders) {
  udp::socket a = bound(), b = bound(), c = bound();
  const udp::endpoint to = c.local_endpoint();
  letters<udp> first({"one", "", "three"}, &to), second({"four"}, &to);
  transfer sent, also_sent, received;
  a.async_send_batch(first.batch, sent.handler());
  run();
  b.async_send_batch(second.batch, also_sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 3u);
  EXPECT_EQ(also_sent.bytes(), 1u);
  room<udp> in(8);
  c.async_receive_batch(in.batch, received.handler());
  run();
  EXPECT_FALSE(received.ec());
  ASSERT_EQ(received.bytes(), 4u);
  EXPECT_EQ(in.text(0), "one");
  EXPECT_EQ(in.text(1), "");
  EXPECT_EQ(in.text(2), "three");
  EXPECT_EQ(in.text(3), "four");
  EXPECT_EQ(in.batch[2].sender, a.local_endpoint());
  EXPECT_EQ(in.batch[3].sender, b.local_endpoint());
  EXPECT_EQ(in.batch[2].segment_size, 5u);
  EXPECT_FALSE(in.batch[2].truncated);
  EXPECT_EQ(in.batch[4].sender, udp::endpoint());
}

TEST_P(datagram_batch, pending_receive_takes_all_that_has_come) {
  udp::socket a = bound(), b = bound();
  a.connect(b.local_endpoint());
  room<udp> in(8);
  transfer received;
  b.async_receive_batch(in.batch, received.handler());
  context.poll();
  EXPECT_EQ(received.calls, 0);
  for (const char* text : {"x", "y", "z"})
    a.send(buffer(text, 1));
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 3u);
  EXPECT_EQ(in.text(2), "z");
}

TEST_P(datagram_batch, full_batch_leaves_the_rest_to_the_next) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out(numbers(5), &to);
  EXPECT_EQ(a.send_batch(out.batch), 5u);
  room<udp> in(3), single(1);
  transfer first, second, third, pending;
  b.async_receive_batch(in.batch, first.handler());
  b.async_receive(buffer(single.bytes), second.handler());
  run();
  EXPECT_EQ(first.bytes(), 3u);
  EXPECT_EQ(in.text(2), "1002");
  EXPECT_EQ(second.bytes(), 4u);
  b.async_receive_batch(in.batch, third.handler());
  b.async_receive_batch(in.batch, pending.handler());
  run_until_done(third);
  EXPECT_EQ(third.bytes(), 1u);
  EXPECT_EQ(in.text(0), "1004");
  context.poll();
  EXPECT_EQ(pending.calls, 0);
  a.send_to(buffer("late", 4), to);
  run();
  EXPECT_EQ(pending.bytes(), 1u);
  EXPECT_EQ(in.text(0), "late");
}

TEST_P(datagram_batch, synchronous_calls_do_the_same) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out(numbers(200), &to);
  EXPECT_EQ(a.send_batch(out.batch), 200u);
  room<udp> in(1500);
  ASSERT_EQ(b.receive_batch(in.batch), 200u);
  for (std::size_t i = 0; i != 200; ++i) {
    EXPECT_EQ(in.text(i), out.texts[i]);
    EXPECT_EQ(in.batch[i].sender, a.local_endpoint());
  }
}

TEST_P(datagram_batch, goes_over_ip_version_6) {
  error_code ec;
  udp::socket a(context, udp::v6()), b(context, udp::v6());
  b.bind(udp::endpoint(weft::ip::address_v6::loopback(), 0), ec);
  if (ec)
    GTEST_SKIP() << "no IPv6 here: " << ec.message();
  a.bind(udp::endpoint(weft::ip::address_v6::loopback(), 0));
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out(numbers(70), &to);
  transfer sent, received;
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_EQ(sent.bytes(), 70u);
  room<udp> in(100);
  b.async_receive_batch(in.batch, received.handler());
  run();
  ASSERT_EQ(received.bytes(), 70u);
  EXPECT_EQ(in.text(69), "1069");
  EXPECT_EQ(in.batch[69].sender, a.local_endpoint());
}

TEST_P(datagram_batch, goes_to_several_destinations) {
  udp::socket a = bound(), b = bound(), c = bound();
  const udp::endpoint to_b = b.local_endpoint(), to_c = c.local_endpoint();
  const std::array<udp::socket::outgoing_datagram, 5> out{{{buffer("b1", 2), &to_b},
                                                           {buffer("b2", 2), &to_b},
                                                           {buffer("c1", 2), &to_c},
                                                           {buffer("b3", 2), &to_b},
                                                           {buffer("c2", 2), &to_c}}};
  EXPECT_EQ(a.send_batch(out), 5u);
  room<udp> in(8);
  ASSERT_EQ(b.receive_batch(in.batch), 3u);
  EXPECT_EQ(in.text(0) + in.text(1) + in.text(2), "b1b2b3");
  ASSERT_EQ(c.receive_batch(in.batch), 2u);
  EXPECT_EQ(in.text(0) + in.text(1), "c1c2");
}

TEST_P(datagram_batch, tells_which_datagrams_were_cut) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out({"12345678", "1234"}, &to);
  a.send_batch(out.batch);
  room<udp> in(3, 4);
  transfer received;
  b.async_receive_batch(in.batch, received.handler());
  run();
  ASSERT_EQ(received.bytes(), 2u);
  EXPECT_TRUE(in.batch[0].truncated);
  EXPECT_EQ(in.text(0), "1234");
  EXPECT_FALSE(in.batch[1].truncated);
  EXPECT_EQ(in.text(1), "1234");
}

TEST_P(datagram_batch, empty_batch_completes_at_once) {
  udp::socket a = bound();
  transfer sent, received;
  a.async_receive_batch({}, received.handler());
  a.async_send_batch({}, sent.handler());
  EXPECT_EQ(received.calls + sent.calls, 0);
  run();
  EXPECT_FALSE(received.ec());
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(a.receive_batch({}), 0u);
  EXPECT_EQ(a.send_batch({}), 0u);
  a.close();
  transfer closed;
  a.async_receive_batch({}, closed.handler());
  run();
  EXPECT_EQ(closed.ec(), weft::error::bad_descriptor);
  error_code ec;
  a.receive_batch({}, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  a.send_batch({}, ec);
  EXPECT_EQ(ec, weft::error::bad_descriptor);
}

// More than the kernel takes in one call, and than the socket has room for.
TEST_P(datagram_batch, longer_than_any_limit_is_sent_whole) {
  auto [a, b] = unix_datagram_pair();
  letters<unix_datagram> out(numbers(3000));
  transfer sent;
  a.async_send_batch(out.batch, sent.handler());
  context.poll();
  EXPECT_EQ(sent.calls, 0);
  room<unix_datagram> in(2000, 8);
  std::size_t total = 0;
  while (total != 3000) {
    transfer received;
    b.async_receive_batch(in.batch, received.handler());
    run_until_done(received);
    ASSERT_FALSE(received.ec());
    ASSERT_GT(received.bytes(), 0u);
    for (std::size_t i = 0; i != received.bytes(); ++i)
      ASSERT_EQ(in.text(i), out.texts[total + i]);
    total += received.bytes();
  }
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 3000u);
}

// ---- turns

// Of two sizes, of which no more than two can go as one.
TEST_P(datagram_batch, long_send_takes_turns_with_others) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  std::vector<std::string> texts;
  for (int i = 0; i != 2000; ++i)
    texts.emplace_back(i % 2 == 0 ? "a" : "bc");
  letters<udp> out(texts, &to);
  transfer stopped, sent;
  a.async_send_batch(out.batch, stopped.handler());
  a.cancel();
  run();
  EXPECT_EQ(stopped.ec(), weft::error::operation_aborted);
  EXPECT_GT(stopped.bytes(), 0u);
  EXPECT_LT(stopped.bytes(), 2000u);
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 2000u);
}

TEST_P(datagram_batch, receive_of_very_many_takes_turns_with_others) {
  udp::socket a = bound(), b = bound();
  b.set_option(udp::socket::receive_buffer_size(1 << 20));
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out(numbers(300), &to);
  EXPECT_EQ(a.send_batch(out.batch), 300u);
  room<udp> in(400, 8);
  transfer first, second;
  b.async_receive_batch(in.batch, first.handler());
  run();
  ASSERT_LT(first.bytes(), 300u);
  b.async_receive_batch(in.batch, second.handler());
  run();
  EXPECT_EQ(first.bytes() + second.bytes(), 300u);
  EXPECT_EQ(in.text(second.bytes() - 1), "1299");
}

// ---- errors

TEST_P(datagram_batch, stops_at_the_datagram_at_fault) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out({"1", "2", std::string(70000, 'x'), "4"}, &to);
  transfer sent, again;
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_EQ(sent.ec(), weft::error::message_size);
  EXPECT_EQ(sent.bytes(), 2u);
  a.async_send_batch(std::span(out.batch).subspan(3), again.handler());
  run();
  EXPECT_EQ(again.bytes(), 1u);
  error_code ec;
  EXPECT_EQ(a.send_batch(out.batch, ec), 2u);
  EXPECT_EQ(ec, weft::error::message_size);
  room<udp> in(8);
  EXPECT_EQ(b.receive_batch(in.batch), 5u);
  EXPECT_EQ(in.text(2), "4");
}

TEST_P(datagram_batch, without_destination_or_peer_is_refused) {
  udp::socket a = bound();
  letters<udp> out({"x", "y"});
  transfer sent;
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_EQ(sent.ec().value(), EDESTADDRREQ);
  EXPECT_EQ(sent.bytes(), 0u);
  EXPECT_THROW(a.send_batch(out.batch), weft::system_error);
}

TEST_P(datagram_batch, refusal_of_an_earlier_datagram_is_reported) {
  const udp::socket holder = refusing_socket();
  const udp::endpoint nobody = holder.local_endpoint();
  udp::socket a = bound();
  a.connect(nobody);
  a.send(buffer("x", 1));
  room<udp> in(2);
  transfer received, sent;
  a.async_receive_batch(in.batch, received.handler());
  run();
  EXPECT_EQ(received.ec(), weft::error::connection_refused);
  EXPECT_EQ(received.bytes(), 0u);
  a.send(buffer("x", 1));
  letters<udp> out(numbers(2));
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_EQ(sent.ec(), weft::error::connection_refused);
  EXPECT_EQ(sent.bytes(), 0u);
}

TEST_P(datagram_batch, memory_that_is_none_is_an_error) {
  udp::socket a = bound(), b = bound();
  a.connect(b.local_endpoint());
  letters<udp> out({"1", "2"});
  out.batch.push_back({weft::const_buffer(reinterpret_cast<void*>(8), 3)});
  error_code ec;
  EXPECT_EQ(a.send_batch(out.batch, ec), 2u);
  EXPECT_EQ(ec, weft::error::fault);
  std::array<udp::socket::incoming_datagram, 1> in{};
  in[0].buffer = weft::mutable_buffer(reinterpret_cast<void*>(8), 3);
  transfer received;
  b.async_receive_batch(in, received.handler());
  run();
  EXPECT_EQ(received.ec(), weft::error::fault);
  EXPECT_EQ(received.bytes(), 0u);
}

TEST_P(datagram_batch, cut_short_by_an_error_it_leaves_no_receive_waiting) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  room<udp> in(3), single(1);
  in.batch[1].buffer = weft::mutable_buffer(reinterpret_cast<void*>(8), 3);
  transfer first, second;
  b.async_receive_batch(in.batch, first.handler());
  context.poll();
  EXPECT_EQ(first.calls, 0);
  letters<udp> out(numbers(4), &to);
  a.send_batch(out.batch);
  run_until_done(first);
  EXPECT_FALSE(first.ec());
  EXPECT_EQ(first.bytes(), 1u);
  b.async_receive(buffer(single.bytes), second.handler());
  context.restart();
  for (int i = 0; i != 1000 && second.calls == 0; ++i)
    context.poll();
  EXPECT_EQ(second.calls, 1);
}

TEST_P(datagram_batch, of_a_socket_in_non_blocking_mode_reports_would_block) {
  auto [a, b] = unix_datagram_pair();
  a.non_blocking(true);
  b.non_blocking(true);
  room<unix_datagram> in(3000, 8);
  error_code ec;
  EXPECT_EQ(b.receive_batch(in.batch, ec), 0u);
  EXPECT_EQ(ec, weft::error::would_block);
  letters<unix_datagram> out(numbers(3000));
  const std::size_t sent = a.send_batch(out.batch, ec);
  EXPECT_EQ(ec, weft::error::would_block);
  EXPECT_GT(sent, 0u);
  EXPECT_LT(sent, 3000u);
  EXPECT_EQ(b.receive_batch(in.batch, ec), sent);
  EXPECT_FALSE(ec);
}

// ---- cancellation

TEST_P(datagram_batch, cancelled_receive_leaves_the_batch_alone) {
  udp::socket a = bound();
  room<udp> in(2);
  in.batch[0].size = 77;
  transfer received;
  a.async_receive_batch(in.batch, received.handler());
  context.poll();
  a.cancel();
  run();
  EXPECT_EQ(received.ec(), weft::error::operation_aborted);
  EXPECT_EQ(received.bytes(), 0u);
  EXPECT_EQ(in.batch[0].size, 77u);
}

TEST_P(datagram_batch, cancelled_receive_that_has_taken_datagrams_reports_them) {
  udp::socket a = bound(), b = bound();
  a.connect(b.local_endpoint());
  room<udp> in(4);
  weft::io_context elsewhere;
  weft::cancellation_signal signal;
  transfer received;
  a.send(buffer("x", 1));
  a.send(buffer("y", 1));
  b.async_receive_batch(in.batch, weft::bind_executor(elsewhere.get_executor(),
                                                      cancellable(signal, received.handler())));
  run();  // they are taken, and the handler waits for its own context
  signal.emit(weft::cancellation_type::all);
  b.cancel();
  EXPECT_EQ(received.calls, 0);
  elsewhere.run();
  EXPECT_FALSE(received.ec());
  EXPECT_EQ(received.bytes(), 2u);
}

TEST_P(datagram_batch, cancelled_send_tells_how_many_were_sent) {
  auto [a, b] = unix_datagram_pair();
  letters<unix_datagram> out(numbers(3000));
  transfer sent;
  a.async_send_batch(out.batch, sent.handler());
  context.poll();
  a.cancel();
  run();
  EXPECT_EQ(sent.ec(), weft::error::operation_aborted);
  EXPECT_GT(sent.bytes(), 0u);
  room<unix_datagram> in(3000, 8);
  EXPECT_EQ(b.receive_batch(in.batch), sent.bytes());
}

TEST_P(datagram_batch, send_that_has_begun_is_ended_by_total_cancellation) {
  auto [a, b] = unix_datagram_pair();
  letters<unix_datagram> out(numbers(3000));
  weft::cancellation_signal signal;
  transfer sent;
  a.async_send_batch(out.batch, cancellable(signal, sent.handler()));
  context.poll();
  signal.emit(weft::cancellation_type::total);
  context.restart();
  context.poll();
  EXPECT_EQ(sent.ec(), weft::error::operation_aborted);
  EXPECT_GT(sent.bytes(), 0u);
  a.close();
  run();
}

// ---- UNIX-domain sockets

TEST_P(datagram_batch, tells_the_names_of_unix_senders_and_their_absence) {
  unix_datagram::socket named(context, abstract("named")), to(context, abstract("to"));
  unix_datagram::socket nameless(context, unix_datagram());
  const unix_datagram::endpoint there = to.local_endpoint();
  letters<unix_datagram> out({"x"}, &there);
  nameless.send_batch(out.batch);
  named.send_batch(out.batch);
  room<unix_datagram> in(2);
  in.batch[0].sender = unix_datagram::endpoint("/somewhere");
  EXPECT_EQ(to.receive_batch(in.batch), 2u);
  EXPECT_EQ(in.batch[0].sender.path(), "");
  EXPECT_EQ(in.batch[1].sender, named.local_endpoint());
}

// The sender's own room is not what is short here, so that no readiness tells of it.
TEST_P(datagram_batch, waits_for_room_at_a_destination) {
  unix_datagram::socket a(context, unix_datagram()), b(context, abstract("room"));
  const unix_datagram::endpoint to = b.local_endpoint();
  letters<unix_datagram> out(numbers(40), &to);
  std::size_t before = 0;
  for (error_code ec; !ec && before < 10000;) {
    unix_datagram::socket other(context, unix_datagram());
    other.non_blocking(true);
    before += other.send_batch(out.batch, ec);
  }
  transfer sent;
  a.async_send_batch(out.batch, sent.handler());
  context.poll();
  EXPECT_EQ(sent.calls, 0);
  room<unix_datagram> in(64, 8);
  std::size_t total = 0;
  while (total != before + 40) {
    transfer received;
    b.async_receive_batch(in.batch, received.handler());
    run_until_done(received);
    ASSERT_FALSE(received.ec());
    total += received.bytes();
  }
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 40u);
}

TEST_P(datagram_batch, does_not_spin_while_a_destination_has_no_room) {
  const auto address = abstract("full").path();
  const counted_datagram::endpoint to{std::string(address)};
  counted_datagram::socket a(context, counted_datagram()), b(context, to);
  letters<counted_datagram> out(numbers(1000), &to);
  transfer short_of_room, sent;
  // First its own room is short: then the backend watches the socket for writing.
  a.set_option(counted_datagram::socket::send_buffer_size(1));
  a.async_send_batch(out.batch, short_of_room.handler());
  context.poll();
  a.cancel();
  run();
  ASSERT_EQ(short_of_room.ec(), weft::error::operation_aborted);
  a.set_option(counted_datagram::socket::send_buffer_size(1 << 20));
  a.async_send_batch(out.batch, sent.handler());
  context.restart();
  context.poll();
  counted_datagram::endpoint::asked = 0;
  for (int i = 0; i != 1000; ++i)
    context.poll();
  EXPECT_EQ(sent.calls, 0);
  // Each attempt asks once for each message of a call. (It is made every 10 ms.)
  EXPECT_LT(counted_datagram::endpoint::asked, 64 * 500);
  a.cancel();
  run();
}

// Of a socket in blocking mode, of which the descriptor is not.
TEST_P(datagram_batch, synchronous_send_does_not_spin_while_a_destination_has_no_room) {
  const auto address = abstract("full-too").path();
  const counted_datagram::endpoint to{std::string(address)};
  counted_datagram::socket a(context, counted_datagram()), b(context, to);
  a.set_option(counted_datagram::socket::send_buffer_size(1 << 20));
  a.native_non_blocking(true);
  letters<counted_datagram> out(numbers(100), &to);
  error_code ec;
  std::size_t sent = 0;
  counted_datagram::endpoint::asked = 0;
  std::thread sender([&] { sent = a.send_batch(out.batch, ec); });
  weft::steady_timer timer(context, std::chrono::milliseconds(50));
  timer.async_wait([&](error_code) {
    room<counted_datagram> in(100, 8);
    for (std::size_t total = 0; total != 100;)
      total += b.receive_batch(in.batch);
  });
  run();
  sender.join();
  EXPECT_FALSE(ec);
  EXPECT_EQ(sent, 100u);
  EXPECT_LT(counted_datagram::endpoint::asked, 64 * 500);
}

TEST_P(datagram_batch, single_send_waits_for_room_at_a_destination) {
  unix_datagram::socket a(context, unix_datagram()), b(context, abstract("single"));
  const unix_datagram::endpoint to = b.local_endpoint();
  a.set_option(unix_datagram::socket::send_buffer_size(1 << 20));
  a.non_blocking(true);
  error_code ec;
  std::size_t before = 0;
  while (!ec)
    before += a.send_to(buffer("x", 1), to, 0, ec);
  ASSERT_EQ(ec, weft::error::would_block);
  a.non_blocking(false);
  a.native_non_blocking(true);
  std::thread sender([&] { a.send_to(buffer("y", 1), to, 0, ec); });
  room<unix_datagram> in(1, 8);
  for (std::size_t i = 0; i != before + 1; ++i)
    EXPECT_EQ(b.receive_batch(in.batch), 1u);
  sender.join();
  EXPECT_FALSE(ec);
  EXPECT_EQ(in.text(0), "y");
}

TEST_P(datagram_batch, takes_no_descriptors_that_came_along) {
  auto [a, b] = unix_datagram_pair();
  const int fd = 1;
  weft::send_descriptors(a, std::span<const int>(&fd, 1), buffer("x", 1));
  const auto open_descriptors = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_descriptors();
  room<unix_datagram> in(2);
  EXPECT_EQ(b.receive_batch(in.batch), 1u);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(datagram_batch, serves_generic_sockets) {
  using generic = weft::generic::datagram_protocol;
  generic::socket a(bound()), b(bound());
  const generic::endpoint to = b.local_endpoint();
  letters<generic> out(numbers(3), &to);
  EXPECT_EQ(a.send_batch(out.batch), 3u);
  room<generic> in(4);
  EXPECT_EQ(b.receive_batch(in.batch), 3u);
  EXPECT_EQ(in.batch[2].sender, a.local_endpoint());
}

// ---- several datagrams as one

class segmented_batch : public datagram_batch {
 protected:
  void SetUp() override {
    error_code ec;
    udp::socket probe = bound();
    probe.set_option(udp::generic_receive_offload(true), ec);
    if (ec)
      GTEST_SKIP() << "no UDP_GRO here: " << ec.message();
  }

  udp::socket gathering() {
    udp::socket s = bound();
    s.set_option(udp::generic_receive_offload(true));
    return s;
  }

  /// The sizes of what is received from `s` at once, and the sizes of their segments.
  using sizes = std::vector<std::pair<std::size_t, std::size_t>>;
  sizes received_from(udp::socket& s) {
    room<udp> in(16, 65535);
    transfer received;
    s.async_receive_batch(in.batch, received.handler());
    run();
    EXPECT_FALSE(received.ec());
    sizes result;
    for (std::size_t i = 0; i != received.bytes(); ++i)
      result.emplace_back(in.batch[i].size, in.batch[i].segment_size);
    return result;
  }
};

TEST_P(segmented_batch, options_are_kept) {
  udp::socket s = bound();
  udp::segment_size size;
  s.get_option(size);
  EXPECT_EQ(size.value(), 0);
  s.set_option(udp::segment_size(1200));
  s.get_option(size);
  EXPECT_EQ(size.value(), 1200);
}

TEST_P(segmented_batch, of_one_size_and_destination_goes_as_one) {
  udp::socket a = bound(), b = gathering();
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out({std::string(64, '1'), std::string(64, '2'), std::string(64, '3'), "last",
                    std::string(64, '5'), std::string(100, '6')},
                   &to);
  transfer sent;
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 6u);
  EXPECT_EQ(received_from(b), (sizes{{3 * 64 + 4, 64}, {64, 64}, {100, 100}}));
}

TEST_P(segmented_batch, tells_the_size_beside_what_else_the_socket_is_asked_to_tell) {
  for (const bool v6 : {false, true}) {
    const auto address = v6 ? weft::ip::address(weft::ip::address_v6::loopback())
                            : weft::ip::address(weft::ip::address_v4::loopback());
    udp::socket a(context, v6 ? udp::v6() : udp::v4()), b(context, a.local_endpoint().protocol());
    error_code ec;
    b.bind(udp::endpoint(address, 0), ec);
    if (ec)
      continue;
    b.set_option(udp::generic_receive_offload(true));
    b.set_option(weft::socket_option::boolean<SOL_SOCKET, SO_TIMESTAMPNS>(true));
    b.set_option(weft::socket_option::integer<SOL_SOCKET, SO_TIMESTAMPING>(
        SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_PKTINFO));
    b.set_option(weft::socket_option::boolean<SOL_SOCKET, SO_RXQ_OVFL>(true));
    b.set_option(weft::socket_option::boolean<IPPROTO_IP, IP_PKTINFO>(true));
    b.set_option(weft::socket_option::boolean<IPPROTO_IP, IP_RECVTTL>(true));
    b.set_option(weft::socket_option::boolean<IPPROTO_IP, IP_RECVTOS>(true));
    if (v6) {
      b.set_option(weft::socket_option::boolean<IPPROTO_IPV6, IPV6_RECVPKTINFO>(true));
      b.set_option(weft::socket_option::boolean<IPPROTO_IPV6, IPV6_RECVHOPLIMIT>(true));
      b.set_option(weft::socket_option::boolean<IPPROTO_IPV6, IPV6_RECVTCLASS>(true));
    }
    const udp::endpoint to = b.local_endpoint();
    letters<udp> out({std::string(64, '1'), std::string(64, '2'), std::string(64, '3')}, &to);
    EXPECT_EQ(a.send_batch(out.batch), 3u);
    EXPECT_EQ(received_from(b), (sizes{{3 * 64, 64}})) << (v6 ? "IPv6" : "IPv4");
  }
}

TEST_P(segmented_batch, is_made_of_one_buffer_where_it_says_so) {
  udp::socket a = bound(), b = gathering(), plain = bound();
  const udp::endpoint to_b = b.local_endpoint(), to_plain = plain.local_endpoint();
  const std::string bytes(2500, 'x');
  const std::array<udp::socket::outgoing_datagram, 3> out{{{buffer(bytes), &to_b, 1000},
                                                           {buffer(bytes), &to_plain, 1000},
                                                           {buffer("x", 1), &to_b, 1000}}};
  transfer sent;
  a.async_send_batch(out, sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 3u);
  EXPECT_EQ(received_from(b), (sizes{{2500, 1000}, {1, 1}}));
  EXPECT_EQ(received_from(plain), (sizes{{1000, 1000}, {1000, 1000}, {500, 500}}));
}

TEST_P(segmented_batch, respects_the_segment_size_of_the_socket) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  letters<udp> out({std::string(100, 'x'), std::string(100, 'y')}, &to);
  EXPECT_EQ(a.send_batch(out.batch), 2u);
  EXPECT_EQ(received_from(b), (sizes{{100, 100}, {100, 100}}));
  a.set_option(udp::segment_size(50));
  EXPECT_EQ(a.send_batch(out.batch), 2u);
  EXPECT_EQ(received_from(b), (sizes{{50, 50}, {50, 50}, {50, 50}, {50, 50}}));
  a.set_option(udp::segment_size(0));
  EXPECT_EQ(a.send_batch(out.batch), 2u);
  EXPECT_EQ(received_from(b), (sizes{{100, 100}, {100, 100}}));
}

// A socket that makes no checksums cannot have its datagrams cut by the kernel.
TEST_P(segmented_batch, goes_one_by_one_where_the_kernel_refuses_it_as_one) {
  udp::socket a = bound(), b = gathering();
  const udp::endpoint to = b.local_endpoint();
  a.set_option(weft::socket_option::boolean<SOL_SOCKET, SO_NO_CHECK>(true));
  letters<udp> out({std::string(64, 'x'), std::string(64, 'y'), std::string(64, 'z')}, &to);
  transfer sent;
  a.async_send_batch(out.batch, sent.handler());
  run();
  EXPECT_FALSE(sent.ec());
  EXPECT_EQ(sent.bytes(), 3u);
  EXPECT_EQ(received_from(b), (sizes{{64, 64}, {64, 64}, {64, 64}}));
  const std::array<udp::socket::outgoing_datagram, 1> asked{{{buffer(out.texts[0]), &to, 10}}};
  error_code ec;
  EXPECT_EQ(a.send_batch(asked, ec), 0u);
  EXPECT_EQ(ec, weft::error::invalid_argument);
}

TEST_P(segmented_batch, bad_segment_sizes_are_refused) {
  udp::socket a = bound(), b = bound();
  const udp::endpoint to = b.local_endpoint();
  const std::string bytes(4000, 'x');
  error_code ec;
  std::array<udp::socket::outgoing_datagram, 2> out{
      {{buffer("ok", 2), &to}, {buffer(bytes), &to, 65536}}};
  EXPECT_EQ(a.send_batch(out, ec), 1u);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  out[1].segment_size = 1;
  EXPECT_EQ(a.send_batch(out, ec), 1u);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  auto [c, d] = unix_datagram_pair();
  const std::array<unix_datagram::socket::outgoing_datagram, 2> local{
      {{buffer("ok", 2)}, {buffer(bytes), nullptr, 1000}}};
  transfer sent;
  c.async_send_batch(local, sent.handler());
  run();
  EXPECT_EQ(sent.ec(), weft::error::operation_not_supported);
  EXPECT_EQ(sent.bytes(), 1u);
}

TEST_P(segmented_batch, of_more_than_the_kernel_takes_as_one_arrives_whole) {
  udp::socket a = bound(), b = gathering();
  const udp::endpoint to = b.local_endpoint();
  std::vector<std::string> texts = numbers(300);
  texts.front() = "another size";
  letters<udp> out(texts, &to);
  EXPECT_EQ(a.send_batch(out.batch), 300u);
  room<udp> in(300, 2048);
  std::string all, expected;
  const std::size_t n = b.receive_batch(in.batch);
  EXPECT_LT(n, 10u);
  for (std::size_t i = 0; i != n; ++i)
    all += in.text(i);
  for (const std::string& text : texts)
    expected += text;
  EXPECT_EQ(all, expected);
}

WEFT_INSTANTIATE_BACKENDS(datagram_batch);
WEFT_INSTANTIATE_BACKENDS(segmented_batch);

}  // namespace
