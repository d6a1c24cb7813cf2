// SPDX-License-Identifier: BSL-1.0
// Addresses that lead nowhere, and no descriptor to be had: each is an error for whoever asked, of
// the synchronous and of the asynchronous call alike, and the object stays usable.
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cerrno>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <weft/base/error.hpp>
#include <weft/io/process.hpp>
#include <weft/io/readable_pipe.hpp>
#include <weft/io/steady_timer.hpp>
#include <weft/net/connect.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/generic.hpp>
#include <weft/net/local.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>

#include "support/backend.hpp"

namespace {

using weft::buffer;
using weft::error_code;
using weft::ip::address_v4;
using weft::ip::address_v6;
using weft::ip::tcp;
using weft::ip::udp;

class bad_input : public weft_test::backend_test {
 protected:
  /// What the operation that `start` starts with a handler reports.
  template <class Start>
  error_code outcome_of(Start start) {
    std::optional<error_code> result;
    start([&](error_code ec, auto&&...) {
      EXPECT_FALSE(result) << "completed twice";
      result = ec;
    });
    EXPECT_FALSE(result) << "inline";
    context.restart();
    context.run();
    EXPECT_TRUE(result);
    return result.value_or(error_code());
  }

  /// Connects to where nobody can be, by both calls, and then to an acceptor.
  void expect_unreachable(const tcp::endpoint& where) {
    tcp::socket socket(context);
    error_code ec;
    socket.connect(where, ec);
    EXPECT_TRUE(ec) << where;
    socket.close();
    const error_code later =
        outcome_of([&](auto handler) { socket.async_connect(where, handler); });
    EXPECT_EQ(later, ec) << where << ": " << later.message() << ", not " << ec.message();
    socket.close();
    tcp::acceptor acceptor(context, {address_v4::loopback(), 0});
    EXPECT_FALSE(outcome_of(
        [&](auto handler) { socket.async_connect(acceptor.local_endpoint(), handler); }));
  }
};

bool has_ipv6(weft::io_context& context) {
  error_code ec;
  tcp::acceptor acceptor(context);
  acceptor.open(tcp::v6(), ec);
  if (!ec)
    acceptor.bind({address_v6::loopback(), 0}, ec);
  return !ec;
}

TEST_P(bad_input, connecting_where_nobody_can_be_is_an_error) {
  expect_unreachable({address_v4::loopback(), 0});
  expect_unreachable({address_v4::broadcast(), 80});
  expect_unreachable({weft::ip::make_address("224.0.0.1"), 80});
}

TEST_P(bad_input, a_scope_that_names_no_interface_is_an_error) {
  if (!has_ipv6(context))
    GTEST_SKIP() << "no IPv6 here";
  const auto link_local =
      address_v6::bytes_type{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  const address_v6 nowhere(link_local, 123456), unscoped(link_local, 0);
  expect_unreachable({nowhere, 80});
  expect_unreachable({unscoped, 80});
  udp::socket socket(context, udp::v6());
  error_code ec;
  socket.send_to(buffer("x", 1), {nowhere, 80}, 0, ec);
  EXPECT_TRUE(ec);
  const error_code later = outcome_of(
      [&](auto handler) { socket.async_send_to(buffer("x", 1), {nowhere, 80}, handler); });
  EXPECT_EQ(later, ec);
  udp::socket bound(context, udp::v6());
  bound.bind({nowhere, 0}, ec);
  EXPECT_TRUE(ec);
}

TEST_P(bad_input, a_range_goes_on_after_an_endpoint_for_which_no_socket_can_be_opened) {
  using generic = weft::generic::stream_protocol;
  tcp::acceptor acceptor(context, {address_v4::loopback(), 0});
  sockaddr_in odd{};
  odd.sin_family = 12345;
  const generic::endpoint unknown(&odd, sizeof odd), known(acceptor.local_endpoint());
  generic::socket socket(context);
  EXPECT_FALSE(outcome_of(
      [&](auto handler) { weft::async_connect(socket, std::vector{unknown, known}, handler); }));
  EXPECT_EQ(outcome_of([&](auto handler) {
              weft::async_connect(socket, std::vector{unknown, unknown}, handler);
            }),
            weft::error::address_family_not_supported);
  error_code ec;
  weft::connect(socket, std::vector{unknown, known}, ec);
  EXPECT_FALSE(ec) << ec.message();
}

TEST_P(bad_input, binding_to_an_address_of_nobody_here_is_address_not_available) {
  tcp::acceptor acceptor(context);
  acceptor.open(tcp::v4());
  error_code ec;
  acceptor.bind({weft::ip::make_address("192.0.2.1"), 0}, ec);
  EXPECT_EQ(ec.value(), EADDRNOTAVAIL);
  acceptor.bind({address_v4::loopback(), 0}, ec);
  EXPECT_FALSE(ec) << ec.message();
}

/// No descriptor can be had, for as long as it lives.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &saved_);
    rlimit none = saved_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  no_descriptors(const no_descriptors&) = delete;
  ~no_descriptors() { lift(); }
  void lift() { ::setrlimit(RLIMIT_NOFILE, &saved_); }

 private:
  rlimit saved_{};
};

TEST_P(bad_input, opening_at_the_descriptor_limit_reports_it) {
  tcp::acceptor acceptor(context, {address_v4::loopback(), 0});
  const tcp::endpoint where = acceptor.local_endpoint();
  tcp::socket socket(context);
  udp::socket datagrams(context);
  weft::local::stream_protocol::socket a(context), b(context);
  weft::steady_timer timer(context);
  const error_code expected = weft::error::no_descriptors;
  error_code ec;
  no_descriptors limit;
  socket.open(tcp::v4(), ec);
  EXPECT_EQ(ec, expected);
  socket.connect(where, ec);
  EXPECT_EQ(ec, expected);
  datagrams.open(udp::v4(), ec);
  EXPECT_EQ(ec, expected);
  weft::local::connect_pair(a, b, ec);
  EXPECT_EQ(ec, expected);
  EXPECT_THROW(socket.open(tcp::v4()), weft::system_error);
  EXPECT_EQ(outcome_of([&](auto handler) { socket.async_connect(where, handler); }), expected);
  EXPECT_EQ(outcome_of([&](auto handler) {
              weft::async_connect(socket, std::vector{where, where}, handler);
            }),
            expected);
  // What needs none goes on.
  EXPECT_FALSE(outcome_of([&](auto handler) { timer.async_wait(handler); }));
  EXPECT_FALSE(socket.is_open() || datagrams.is_open() || a.is_open() || b.is_open());
  limit.lift();
  EXPECT_FALSE(outcome_of([&](auto handler) { socket.async_connect(where, handler); }));
}

TEST_P(bad_input, a_process_at_the_descriptor_limit_is_not_started) {
  weft::process::child child(context);
  weft::readable_pipe output(context);
  error_code ec;
  {
    const no_descriptors limit;
    child.spawn("true", {}, {.out = output}, ec);
    EXPECT_EQ(ec, weft::error::no_descriptors);
    child.spawn("true", {}, {}, ec);
    EXPECT_EQ(ec, weft::error::no_descriptors);
    EXPECT_FALSE(child.is_open() || output.is_open());
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "a child is left";
  child.spawn("true", {}, {.out = output}, ec);
  EXPECT_FALSE(ec) << ec.message();
  EXPECT_EQ(child.wait(), weft::process::exit_status::exited(0));
}

TEST_P(bad_input, a_context_at_the_descriptor_limit_throws_that) {
  const auto thrown_by = [](auto f) {
    try {
      f();
    } catch (const weft::system_error& e) {
      return e.code();
    }
    return error_code();
  };
  const error_code expected = weft::error::no_descriptors;
  const no_descriptors limit;
  EXPECT_EQ(thrown_by([] {
              weft::io_context other(weft_test::make_context_options(GetParam()));
              weft::steady_timer first(other);
            }),
            expected);
}

WEFT_INSTANTIATE_BACKENDS(bad_input);

}  // namespace
