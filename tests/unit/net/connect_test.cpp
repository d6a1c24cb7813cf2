// SPDX-License-Identifier: BSL-1.0
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/async/cancellation_signal.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/generic_protocol.hpp>

#include "unit/net/full_acceptor.hpp"

namespace {

using namespace weft_test;

class connect : public socket_test {
 protected:
  using range_result = outcome<error_code, tcp::endpoint>;
};

TEST_P(connect, opens_a_closed_socket_for_the_endpoints_protocol) {
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  status connected;
  s.async_connect(a.local_endpoint(), connected.handler());
  EXPECT_EQ(connected.calls, 0);
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(s.remote_endpoint(), a.local_endpoint());
}

TEST_P(connect, refused_connection_is_reported) {
  tcp::socket s(context), t(context);
  status connected;
  s.async_connect(refused_endpoint(), connected.handler());
  run();
  EXPECT_EQ(connected.ec(), weft::error::connection_refused);
  error_code ec;
  t.connect(refused_endpoint(), ec);
  EXPECT_EQ(ec, weft::error::connection_refused);
  EXPECT_THROW(t.connect(refused_endpoint()), weft::system_error);
}

TEST_P(connect, endpoint_of_another_family_is_refused) {
  tcp::socket s(context, tcp::v4());
  status connected;
  s.async_connect(tcp::endpoint(weft::ip::address_v6::loopback(), 1), connected.handler());
  run();
  EXPECT_TRUE(connected.ec());
}

TEST_P(connect, connecting_twice_is_refused) {
  auto [a, b] = tcp_pair();
  status again;
  a.async_connect(a.remote_endpoint(), again.handler());
  run();
  EXPECT_EQ(again.ec(), weft::error::already_connected);
}

TEST_P(connect, cancelled_half_way_reports_operation_aborted) {
  full_acceptor full(context);
  tcp::socket s(context);
  status connected;
  s.async_connect(full.endpoint(), connected.handler());
  context.poll();
  ASSERT_EQ(connected.calls, 0);
  s.cancel();
  run();
  EXPECT_EQ(connected.ec(), weft::error::operation_aborted);
  s.close();
  tcp::acceptor other(context, loopback());
  s.connect(other.local_endpoint());
  EXPECT_TRUE(s.is_open());
}

TEST_P(connect, closed_half_way_reports_operation_aborted) {
  full_acceptor full(context);
  tcp::socket s(context);
  status connected;
  s.async_connect(full.endpoint(), connected.handler());
  std::thread closer([&] { s.close(); });
  run();
  closer.join();
  EXPECT_EQ(connected.ec(), weft::error::operation_aborted);
}

TEST_P(connect, cancellation_slot_ends_it) {
  full_acceptor full(context);
  tcp::socket s(context);
  status connected;
  weft::cancellation_signal signal;
  s.async_connect(full.endpoint(),
                  weft::bind_cancellation_slot(signal.slot(), connected.handler()));
  context.poll();
  signal.emit(weft::cancellation_type::partial);
  run();
  EXPECT_EQ(connected.ec(), weft::error::operation_aborted);
}

TEST_P(connect, non_blocking_socket_reports_would_block_and_then_writability) {
  full_acceptor full(context);
  tcp::socket s(context, tcp::v4());
  s.non_blocking(true);
  error_code ec;
  s.connect(full.endpoint(), ec);
  EXPECT_EQ(ec, weft::error::would_block);
  tcp::acceptor a(context, loopback());
  tcp::socket t(context, tcp::v4());
  t.non_blocking(true);
  t.connect(a.local_endpoint(), ec);
  EXPECT_TRUE(!ec || ec == weft::error::would_block);
  status writable;
  t.async_wait(tcp::socket::wait_write, writable.handler());
  run_until_done(writable);
  EXPECT_EQ(t.remote_endpoint(), a.local_endpoint());
}

TEST_P(connect, write_started_before_the_connection_stands_waits_for_it) {
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  status connected;
  transfer sent;
  s.async_connect(a.local_endpoint(), connected.handler());
  s.async_write_some(buffer("first", 5), sent.handler());
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_FALSE(sent.ec());
}

TEST_P(connect, failure_to_open_is_reported_to_the_handler) {
  using generic = weft::generic::stream_protocol;
  generic::socket s(context);
  const sockaddr_in bytes{};
  sockaddr_in odd = bytes;
  odd.sin_family = 12345;
  status connected;
  s.async_connect(generic::endpoint(&odd, sizeof(odd)), connected.handler());
  EXPECT_EQ(connected.calls, 0);
  run();
  EXPECT_EQ(connected.ec(), weft::error::address_family_not_supported);
  EXPECT_FALSE(s.is_open());
}

// ---- several endpoints

TEST_P(connect, range_goes_on_to_the_endpoint_that_accepts) {
  tcp::acceptor a(context, loopback());
  const std::vector<tcp::endpoint> endpoints{refused_endpoint(), a.local_endpoint(),
                                             refused_endpoint()};
  tcp::socket s(context);
  error_code ec;
  EXPECT_EQ(weft::connect(s, endpoints, ec), endpoints[1]);
  EXPECT_FALSE(ec);
  EXPECT_EQ(weft::connect(s, endpoints.begin(), endpoints.end()), endpoints.begin() + 1);
  range_result connected;
  weft::async_connect(s, endpoints, connected.handler());
  EXPECT_EQ(connected.calls, 0);
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(std::get<1>(*connected.results), endpoints[1]);
  EXPECT_EQ(s.remote_endpoint(), endpoints[1]);
}

TEST_P(connect, range_keeps_its_own_copy_of_the_endpoints) {
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  range_result connected;
  {
    const std::list<tcp::endpoint> endpoints{refused_endpoint(), a.local_endpoint()};
    weft::async_connect(s, endpoints, connected.handler());
  }
  run();
  EXPECT_FALSE(connected.ec());
}

TEST_P(connect, iterator_form_tells_where_the_endpoint_stands) {
  tcp::acceptor a(context, loopback());
  const std::array<tcp::endpoint, 2> endpoints{refused_endpoint(), a.local_endpoint()};
  tcp::socket s(context);
  using iterator = std::array<tcp::endpoint, 2>::const_iterator;
  outcome<error_code, iterator> connected;
  weft::async_connect(s, endpoints.begin(), endpoints.end(), connected.handler());
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(std::get<1>(*connected.results), endpoints.begin() + 1);
}

TEST_P(connect, empty_range_reports_not_found) {
  tcp::socket s(context);
  const std::vector<tcp::endpoint> none;
  error_code ec;
  EXPECT_EQ(weft::connect(s, none, ec), tcp::endpoint());
  EXPECT_EQ(ec, weft::error::not_found);
  range_result connected;
  weft::async_connect(s, none, connected.handler());
  EXPECT_EQ(connected.calls, 0);
  run();
  EXPECT_EQ(connected.ec(), weft::error::not_found);
}

TEST_P(connect, range_that_fails_reports_the_last_error) {
  tcp::socket s(context);
  const std::vector<tcp::endpoint> endpoints{refused_endpoint(), refused_endpoint()};
  range_result connected;
  weft::async_connect(s, endpoints, connected.handler());
  run();
  EXPECT_EQ(connected.ec(), weft::error::connection_refused);
  EXPECT_EQ(std::get<1>(*connected.results), tcp::endpoint());
}

TEST_P(connect, condition_chooses_among_the_endpoints_and_hears_of_failures) {
  tcp::acceptor a(context, loopback());
  const std::vector<tcp::endpoint> endpoints{a.local_endpoint(), refused_endpoint(),
                                             a.local_endpoint()};
  tcp::socket s(context);
  std::vector<error_code> heard;
  const auto not_the_first = [&, calls = 0](const error_code& last, const tcp::endpoint&) mutable {
    heard.push_back(last);
    return calls++ > 0;
  };
  range_result connected;
  weft::async_connect(s, endpoints, not_the_first, connected.handler());
  run();
  EXPECT_FALSE(connected.ec());
  ASSERT_EQ(heard.size(), 3u);
  EXPECT_FALSE(heard[0]);
  EXPECT_FALSE(heard[1]);
  EXPECT_EQ(heard[2], weft::error::connection_refused);

  const auto skip_two = [](const error_code& last,
                           std::vector<tcp::endpoint>::const_iterator next) {
    return last ? next : next + 2;
  };
  error_code ec;
  EXPECT_EQ(weft::connect(s, endpoints, skip_two, ec), endpoints[2]);
}

TEST_P(connect, closing_the_socket_ends_the_whole_range) {
  full_acceptor full(context);
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  range_result connected;
  weft::async_connect(s, std::vector<tcp::endpoint>{full.endpoint(), a.local_endpoint()},
                      connected.handler());
  context.poll();
  s.close();
  run();
  EXPECT_EQ(connected.ec(), weft::error::operation_aborted);
  EXPECT_FALSE(s.is_open());
}

TEST_P(connect, cancelling_ends_the_whole_range) {
  full_acceptor full(context);
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  range_result connected;
  weft::cancellation_signal signal;
  weft::async_connect(s, std::vector<tcp::endpoint>{full.endpoint(), a.local_endpoint()},
                      weft::bind_cancellation_slot(signal.slot(), connected.handler()));
  context.poll();
  signal.emit(weft::cancellation_type::terminal);
  run();
  EXPECT_EQ(connected.ec(), weft::error::operation_aborted);
}

TEST_P(connect, pair_is_connected_and_refuses_open_sockets) {
  auto [a, b] = unix_pair();
  a.write_some(buffer("x", 1));
  char c = 0;
  EXPECT_EQ(b.read_some(buffer(&c, 1)), 1u);
  unix_stream::socket d(context);
  error_code ec;
  weft::local::connect_pair(a, d, ec);
  EXPECT_EQ(ec, weft::error::already_open);
  EXPECT_FALSE(d.is_open());
}

WEFT_INSTANTIATE_BACKENDS(connect);

}  // namespace
