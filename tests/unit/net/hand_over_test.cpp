// SPDX-License-Identifier: BSL-1.0
#include <weft/net/hand_over.hpp>

#include <fcntl.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <weft/context/post.hpp>
#include <weft/execution/executor_work_guard.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/udp_protocol.hpp>

#include "unit/net/socket_fixture.hpp"

namespace {

using namespace weft_test;
using weft::hand_over;

class hand_over_on : public socket_test {
 protected:
  weft::io_context other{make_context_options(GetParam())};
};
WEFT_INSTANTIATE_BACKENDS(hand_over_on);

TEST_P(hand_over_on, connection_is_served_by_the_other_context) {
  auto [a, b] = tcp_pair();
  const int fd = a.native_handle();
  tcp::socket moved = hand_over(std::move(a), other);
  EXPECT_FALSE(a.is_open());
  EXPECT_EQ(moved.native_handle(), fd);
  transfer got;
  std::string data(4, '\0');
  weft::async_read(moved, buffer(data), got.handler());
  weft::write(b, buffer("over", 4));
  run();
  EXPECT_EQ(got.calls, 0);
  other.run();
  EXPECT_FALSE(got.ec());
  EXPECT_EQ(data, "over");
}

TEST_P(hand_over_on, bytes_that_have_arrived_go_along) {
  auto [a, b] = tcp_pair();
  std::string data(1, '\0');
  transfer first, rest;
  weft::async_read(a, buffer(data), first.handler());
  weft::write(b, buffer("abcd", 4));
  run();
  auto moved = hand_over(std::move(a), other.get_executor());
  static_assert(std::is_same_v<decltype(moved)::executor_type, weft::io_context::executor_type>);
  data.resize(3);
  weft::async_read(moved, buffer(data), rest.handler());
  other.run();
  EXPECT_FALSE(first.ec());
  EXPECT_FALSE(rest.ec());
  EXPECT_EQ(data, "bcd");
}

TEST_P(hand_over_on, pending_operations_are_aborted_on_their_own_context) {
  auto [a, b] = tcp_pair();
  std::string data(1, '\0');
  transfer pending, next;
  a.async_read_some(buffer(data), pending.handler());
  context.poll();
  tcp::socket moved = hand_over(std::move(a), other);
  moved.async_read_some(buffer(data), next.handler());
  other.poll();
  EXPECT_EQ(pending.calls, 0);
  run();
  EXPECT_EQ(pending.ec(), weft::error::operation_aborted);
  weft::write(b, buffer("x", 1));
  other.restart();
  other.run();
  EXPECT_EQ(next.bytes(), 1u);
}

TEST_P(hand_over_on, options_and_modes_go_along) {
  auto [a, b] = tcp_pair();
  a.non_blocking(true);
  a.set_option(tcp::no_delay(true));
  tcp::socket moved = hand_over(std::move(a), other);
  EXPECT_TRUE(moved.non_blocking());
  tcp::no_delay no_delay;
  moved.get_option(no_delay);
  EXPECT_TRUE(no_delay.value());
  moved.non_blocking(false);
  EXPECT_EQ(::fcntl(moved.native_handle(), F_GETFL) & O_NONBLOCK, 0);

  tcp::acceptor acceptor(context, loopback());
  acceptor.set_option(tcp::acceptor::enable_connection_aborted(true));
  tcp::acceptor moved_acceptor = hand_over(std::move(acceptor), other);
  tcp::acceptor::enable_connection_aborted reports;
  moved_acceptor.get_option(reports);
  EXPECT_TRUE(reports.value());
}

TEST_P(hand_over_on, acceptors_and_datagram_sockets_are_handed_over_too) {
  tcp::acceptor acceptor(context, loopback());
  tcp::acceptor moved = hand_over(std::move(acceptor), other);
  outcome<error_code, tcp::socket> accepted;
  moved.async_accept(accepted.handler());
  tcp::socket client(context);
  client.connect(moved.local_endpoint());
  other.run();
  EXPECT_FALSE(accepted.ec());

  using udp = weft::ip::udp;
  udp::socket sender(context, udp::v4());
  udp::socket receiver =
      hand_over(udp::socket(context, {weft::ip::address_v4::loopback(), 0}), other);
  transfer got;
  std::string data(1, '\0');
  receiver.async_receive(buffer(data), got.handler());
  sender.send_to(buffer("u", 1), receiver.local_endpoint());
  other.restart();
  other.run();
  EXPECT_EQ(got.bytes(), 1u);
}

TEST_P(hand_over_on, closed_socket_is_an_error_and_the_new_one_is_closed) {
  tcp::socket closed(context);
  error_code ec;
  EXPECT_FALSE(hand_over(std::move(closed), other, ec).is_open());
  EXPECT_EQ(ec, weft::error::bad_descriptor);
  EXPECT_THROW(hand_over(std::move(closed), other.get_executor()), weft::system_error);
  tcp::socket open(context, tcp::v4());
  EXPECT_TRUE(hand_over(std::move(open), other, ec).is_open());
  EXPECT_FALSE(ec);
}

// A connection goes round the contexts of several threads, and leaves a byte more at each.
TEST_P(hand_over_on, connection_goes_round_contexts_that_other_threads_run) {
  constexpr std::size_t contexts = 3;
  constexpr std::size_t hops = 300;
  struct site {
    explicit site(weft::backend_kind kind) : context(make_context_options(kind)) {}
    weft::io_context context;
    weft::executor_work_guard<weft::io_context::executor_type> work{context.get_executor()};
    std::thread thread{[this] { context.run(); }};
  };
  std::vector<std::unique_ptr<site>> sites;
  for (std::size_t i = 0; i != contexts; ++i)
    sites.push_back(std::make_unique<site>(GetParam()));

  auto [a, b] = tcp_pair();
  struct traveller {
    std::vector<std::unique_ptr<site>>& sites;
    tcp::socket socket;
    std::size_t hop = 0;
    char byte = 0;
    std::latch arrived{1};

    void go_on() {
      socket.async_read_some(buffer(&byte, 1), [this](error_code ec, std::size_t n) {
        EXPECT_FALSE(ec);
        EXPECT_EQ(n, 1u);
        if (++hop == hops) {
          socket.close();
          arrived.count_down();
          return;
        }
        weft::io_context& next = sites[hop % contexts]->context;
        socket = hand_over(std::move(socket), next);
        weft::write(socket, buffer(&byte, 1));
        go_on();
      });
    }
  } traveller{sites, hand_over(std::move(a), sites[0]->context)};
  weft::post(sites[0]->context, [&] { traveller.go_on(); });
  char byte = 'x';
  for (std::size_t i = 0; i != hops; ++i) {
    weft::write(b, buffer(&byte, 1));
    if (i + 1 != hops)
      weft::read(b, buffer(&byte, 1));
  }
  traveller.arrived.wait();
  for (auto& each : sites)
    each->work.reset();
  for (auto& each : sites)
    each->thread.join();
  EXPECT_EQ(traveller.hop, hops);
}

// ---- one address, an acceptor on each context

TEST_P(hand_over_on, acceptors_with_reuse_port_share_an_address_and_its_connections) {
  const auto listen = [](weft::io_context& on, const tcp::endpoint& endpoint) {
    tcp::acceptor acceptor(on, endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_port(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    return acceptor;
  };
  tcp::acceptor first = listen(context, loopback());
  tcp::acceptor second = listen(other, first.local_endpoint());
  error_code ec;
  tcp::acceptor without_option(context, tcp::v4());
  without_option.bind(first.local_endpoint(), ec);
  EXPECT_EQ(ec, weft::error::address_in_use);

  // The kernel spreads by a hash of the addresses: that one gets none of 64 is next to impossible.
  std::vector<tcp::socket> clients;
  for (int i = 0; i != 64; ++i) {
    clients.emplace_back(context);
    clients.back().connect(first.local_endpoint());
  }
  const auto take_all = [](tcp::acceptor& acceptor) {
    acceptor.non_blocking(true);
    int n = 0;
    error_code failed;
    for (; acceptor.accept(failed).is_open(); ++n) {}
    EXPECT_EQ(failed, weft::error::would_block);
    return n;
  };
  const int of_first = take_all(first);
  const int of_second = take_all(second);
  EXPECT_EQ(of_first + of_second, 64);
  EXPECT_GT(of_first, 0);
  EXPECT_GT(of_second, 0);
}

}  // namespace
