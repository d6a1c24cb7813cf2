// SPDX-License-Identifier: BSL-1.0
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <weft/async/bind_cancellation_slot.hpp>
#include <weft/net/happy_eyeballs.hpp>

#include "unit/net/full_acceptor.hpp"

namespace {

using namespace weft_test;
using namespace std::chrono_literals;

class happy_eyeballs : public socket_test {
 protected:
  using result = outcome<error_code, tcp::endpoint>;
  using endpoints = std::vector<tcp::endpoint>;

  static constexpr auto never = 24h;
};

TEST_P(happy_eyeballs, connects_to_the_only_endpoint) {
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  result connected;
  weft::async_connect_happy_eyeballs(s, endpoints{a.local_endpoint()}, connected.handler());
  EXPECT_EQ(connected.calls, 0);
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(std::get<1>(*connected.results), a.local_endpoint());
  EXPECT_EQ(s.remote_endpoint(), a.local_endpoint());
}

TEST_P(happy_eyeballs, failed_attempt_starts_the_next_one_at_once) {
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  result connected;
  weft::async_connect_happy_eyeballs(
      s, endpoints{refused_endpoint(), refused_endpoint(), a.local_endpoint()}, never,
      connected.handler());
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(s.remote_endpoint(), a.local_endpoint());
}

TEST_P(happy_eyeballs, silent_endpoint_is_overtaken_by_the_next) {
  full_acceptor silent(context);
  tcp::acceptor a(context, loopback());
  tcp::socket s(context);
  result connected;
  weft::async_connect_happy_eyeballs(s, endpoints{silent.endpoint(), a.local_endpoint()}, 1ms,
                                     connected.handler());
  run();
  EXPECT_FALSE(connected.ec());
  EXPECT_EQ(std::get<1>(*connected.results), a.local_endpoint());
  EXPECT_EQ(s.remote_endpoint(), a.local_endpoint());
}

TEST_P(happy_eyeballs, endpoint_that_answers_within_the_delay_is_the_only_one_tried) {
  tcp::acceptor first(context, loopback()), second(context, loopback());
  tcp::socket s(context);
  result connected;
  weft::async_connect_happy_eyeballs(s, endpoints{first.local_endpoint(), second.local_endpoint()},
                                     never, connected.handler());
  run();
  EXPECT_FALSE(connected.ec());
  second.non_blocking(true);
  error_code ec;
  second.accept(ec);
  EXPECT_EQ(ec, weft::error::would_block);
}

TEST_P(happy_eyeballs, address_families_take_turns) {
  const auto v4 = weft::ip::address_v4::loopback();
  const auto v6 = weft::ip::address_v6::loopback();
  const endpoints given{{v6, 1}, {v6, 2}, {v6, 3}, {v4, 4}, {v4, 5}};
  const endpoints wanted{{v6, 1}, {v4, 4}, {v6, 2}, {v4, 5}, {v6, 3}};
  EXPECT_EQ(weft::detail::interleave_families<tcp::endpoint>(given), wanted);
}

TEST_P(happy_eyeballs, all_refused_reports_the_last_error_and_leaves_the_socket_closed) {
  tcp::socket s(context, tcp::v4());
  result connected;
  weft::async_connect_happy_eyeballs(s, endpoints{refused_endpoint(), refused_endpoint()},
                                     connected.handler());
  run();
  EXPECT_EQ(connected.ec(), weft::error::connection_refused);
  EXPECT_EQ(std::get<1>(*connected.results), tcp::endpoint());
  EXPECT_FALSE(s.is_open());
}

TEST_P(happy_eyeballs, no_endpoint_reports_not_found) {
  tcp::socket s(context);
  result connected;
  weft::async_connect_happy_eyeballs(s, endpoints{}, connected.handler());
  EXPECT_EQ(connected.calls, 0);
  run();
  EXPECT_EQ(connected.ec(), weft::error::not_found);
}

TEST_P(happy_eyeballs, cancelled_from_another_thread_ends_all_attempts) {
  full_acceptor one(context), two(context);
  tcp::socket s(context);
  result connected;
  weft::cancellation_signal signal;
  weft::async_connect_happy_eyeballs(
      s, endpoints{one.endpoint(), two.endpoint(), one.endpoint()}, 0ms,
      weft::bind_cancellation_slot(signal.slot(), connected.handler()));
  std::thread canceller([&] { signal.emit(weft::cancellation_type::total); });
  run();
  canceller.join();
  EXPECT_EQ(connected.ec(), weft::error::operation_aborted);
  EXPECT_FALSE(s.is_open());
}

TEST_P(happy_eyeballs, destroyed_context_frees_the_handler_uncalled) {
  auto mark = std::make_shared<int>();
  full_acceptor silent(context);
  {
    weft::io_context other(make_context_options(GetParam()));
    auto s = std::make_shared<tcp::socket>(other);
    weft::async_connect_happy_eyeballs(*s, endpoints{silent.endpoint(), silent.endpoint()}, 0ms,
                                       [s, mark](error_code, tcp::endpoint) { FAIL(); });
    other.poll();
  }
  EXPECT_EQ(mark.use_count(), 1);
}

TEST_P(happy_eyeballs, several_threads_may_run_the_race) {
  tcp::acceptor a(context, loopback());
  for (int i = 0; i != 20; ++i) {
    tcp::socket s(context);
    result connected;
    weft::async_connect_happy_eyeballs(
        s, endpoints{a.local_endpoint(), refused_endpoint(), a.local_endpoint()}, 0ms,
        connected.handler());
    context.restart();
    std::thread other([&] { context.run(); });
    context.run();
    other.join();
    EXPECT_FALSE(connected.ec());
    EXPECT_EQ(s.remote_endpoint(), a.local_endpoint());
  }
}

WEFT_INSTANTIATE_BACKENDS(happy_eyeballs);

}  // namespace
