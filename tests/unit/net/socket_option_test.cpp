// SPDX-License-Identifier: BSL-1.0
#include <cerrno>
#include <stdexcept>

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/net/multicast.hpp>
#include <weft/net/socket_base.hpp>
#include <weft/net/tcp_protocol.hpp>
#include <weft/net/udp_protocol.hpp>
#include <weft/net/unicast.hpp>
#include <weft/net/v6_only.hpp>

namespace {

namespace ip = weft::ip;
using weft::socket_base;
using weft::ip::tcp;
using weft::ip::udp;

/// A bare socket that passes options on as the library's own sockets do.
template <class Protocol>
class bare_socket {
 public:
  explicit bare_socket(Protocol protocol)
      : protocol_(protocol),
        fd_(::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol())) {}
  bare_socket(const bare_socket&) = delete;
  ~bare_socket() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int fd() const { return fd_; }

  /// Returns 0 or the errno value.
  template <class Option>
  int set(const Option& option) {
    return ::setsockopt(fd_, option.level(protocol_), option.name(protocol_),
                        option.data(protocol_), static_cast<socklen_t>(option.size(protocol_))) == 0
               ? 0
               : errno;
  }
  template <class Option>
  Option get() {
    Option option;
    auto size = static_cast<socklen_t>(option.size(protocol_));
    EXPECT_EQ(::getsockopt(fd_, option.level(protocol_), option.name(protocol_),
                           option.data(protocol_), &size),
              0);
    option.resize(protocol_, size);
    return option;
  }
  int raw(int level, int name) {
    int value = -1;
    socklen_t size = sizeof(value);
    EXPECT_EQ(::getsockopt(fd_, level, name, &value, &size), 0);
    return value;
  }

 private:
  Protocol protocol_;
  int fd_;
};

template <class Option, class Protocol>
void expect_boolean_round_trip(Protocol protocol, int level, int name) {
  bare_socket<Protocol> socket(protocol);
  EXPECT_EQ(socket.set(Option(true)), 0);
  EXPECT_TRUE(socket.template get<Option>().value());
  EXPECT_NE(socket.raw(level, name), 0);
  EXPECT_EQ(socket.set(Option(false)), 0);
  EXPECT_FALSE(socket.template get<Option>().value());
  EXPECT_EQ(socket.raw(level, name), 0);
}

TEST(socket_option, booleans_reach_the_kernel_and_come_back) {
  expect_boolean_round_trip<socket_base::broadcast>(udp::v4(), SOL_SOCKET, SO_BROADCAST);
  expect_boolean_round_trip<socket_base::do_not_route>(udp::v4(), SOL_SOCKET, SO_DONTROUTE);
  expect_boolean_round_trip<socket_base::keep_alive>(tcp::v4(), SOL_SOCKET, SO_KEEPALIVE);
  expect_boolean_round_trip<socket_base::reuse_address>(tcp::v4(), SOL_SOCKET, SO_REUSEADDR);
  expect_boolean_round_trip<socket_base::reuse_port>(tcp::v4(), SOL_SOCKET, SO_REUSEPORT);
  expect_boolean_round_trip<socket_base::out_of_band_inline>(tcp::v4(), SOL_SOCKET, SO_OOBINLINE);
  expect_boolean_round_trip<tcp::no_delay>(tcp::v4(), IPPROTO_TCP, TCP_NODELAY);
  expect_boolean_round_trip<tcp::cork>(tcp::v4(), IPPROTO_TCP, TCP_CORK);
  expect_boolean_round_trip<ip::multicast::enable_loopback>(udp::v4(), IPPROTO_IP,
                                                            IP_MULTICAST_LOOP);
}

TEST(socket_option, debug_is_readable_and_guarded) {
  bare_socket socket(tcp::v4());
  EXPECT_FALSE(socket.get<socket_base::debug>().value());
  const int error = socket.set(socket_base::debug(true));
  EXPECT_TRUE(error == 0 || error == EACCES) << error;
}

TEST(socket_option, integers_reach_the_kernel_and_come_back) {
  bare_socket socket(tcp::v4());
  EXPECT_EQ(socket.set(socket_base::receive_low_watermark(100)), 0);
  EXPECT_EQ(socket.get<socket_base::receive_low_watermark>().value(), 100);
  EXPECT_EQ(socket.set(tcp::keep_alive_idle(77)), 0);
  EXPECT_EQ(socket.get<tcp::keep_alive_idle>().value(), 77);
  EXPECT_EQ(socket.set(tcp::keep_alive_interval(7)), 0);
  EXPECT_EQ(socket.get<tcp::keep_alive_interval>().value(), 7);
  EXPECT_EQ(socket.set(tcp::keep_alive_count(5)), 0);
  EXPECT_EQ(socket.get<tcp::keep_alive_count>().value(), 5);
  EXPECT_EQ(socket.set(tcp::user_timeout(1500)), 0);
  EXPECT_EQ(socket.get<tcp::user_timeout>().value(), 1500);
  EXPECT_EQ(socket.set(tcp::defer_accept(1)), 0);
  EXPECT_GE(socket.get<tcp::defer_accept>().value(), 1);
  EXPECT_GT(socket.get<tcp::max_segment_size>().value(), 0);
}

TEST(socket_option, buffer_sizes_are_reported_at_least_as_set) {
  bare_socket socket(tcp::v4());
  EXPECT_EQ(socket.set(socket_base::send_buffer_size(8192)), 0);
  EXPECT_GE(socket.get<socket_base::send_buffer_size>().value(), 8192);
  EXPECT_EQ(socket.set(socket_base::receive_buffer_size(8192)), 0);
  EXPECT_GE(socket.get<socket_base::receive_buffer_size>().value(), 8192);
}

TEST(socket_option, send_low_watermark_is_fixed_on_linux) {
  bare_socket socket(tcp::v4());
  EXPECT_EQ(socket.get<socket_base::send_low_watermark>().value(), 1);
  EXPECT_EQ(socket.set(socket_base::send_low_watermark(1024)), ENOPROTOOPT);
}

TEST(socket_option, linger_carries_both_its_parts) {
  bare_socket socket(tcp::v4());
  EXPECT_FALSE(socket.get<socket_base::linger>().enabled());
  EXPECT_EQ(socket.set(socket_base::linger(true, 30)), 0);
  const auto linger = socket.get<socket_base::linger>();
  EXPECT_TRUE(linger.enabled());
  EXPECT_EQ(linger.timeout(), 30);
  socket_base::linger changed;
  changed.enabled(true);
  changed.timeout(3);
  EXPECT_EQ(socket.set(changed), 0);
  EXPECT_EQ(socket.get<socket_base::linger>().timeout(), 3);
}

TEST(socket_option, hops_go_by_the_version_of_the_protocol) {
  bare_socket v4(udp::v4());
  EXPECT_EQ(v4.set(ip::unicast::hops(9)), 0);
  EXPECT_EQ(v4.get<ip::unicast::hops>().value(), 9);
  EXPECT_EQ(v4.raw(IPPROTO_IP, IP_TTL), 9);
  EXPECT_EQ(v4.set(ip::multicast::hops(8)), 0);
  EXPECT_EQ(v4.get<ip::multicast::hops>().value(), 8);
  EXPECT_EQ(v4.raw(IPPROTO_IP, IP_MULTICAST_TTL), 8);
  bare_socket v6(udp::v6());
  if (v6.fd() < 0)
    GTEST_SKIP() << "no IPv6";
  EXPECT_EQ(v6.set(ip::unicast::hops(7)), 0);
  EXPECT_EQ(v6.raw(IPPROTO_IPV6, IPV6_UNICAST_HOPS), 7);
  EXPECT_EQ(v6.set(ip::multicast::hops(6)), 0);
  EXPECT_EQ(v6.get<ip::multicast::hops>().value(), 6);
  EXPECT_EQ(v6.raw(IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 6);
  EXPECT_EQ(v6.set(ip::multicast::enable_loopback(false)), 0);
  EXPECT_FALSE(v6.get<ip::multicast::enable_loopback>().value());
  EXPECT_EQ(v6.set(ip::v6_only(true)), 0);
  EXPECT_TRUE(v6.get<ip::v6_only>().value());
}

TEST(socket_option, multicast_hops_outside_a_byte_are_refused) {
  EXPECT_THROW(ip::multicast::hops(256), std::out_of_range);
  EXPECT_THROW(ip::multicast::hops(-1), std::out_of_range);
  ip::multicast::hops hops(255);
  EXPECT_THROW(hops = 256, std::out_of_range);
  EXPECT_EQ(hops.value(), 255);
  hops = 0;
  EXPECT_EQ(hops.value(), 0);
}

TEST(socket_option, v4_group_is_joined_once_and_left_once) {
  bare_socket socket(udp::v4());
  const auto group = ip::make_address_v4("239.255.0.1");
  const ip::multicast::join_group join(group, ip::address_v4::loopback());
  const ip::multicast::leave_group leave(group, ip::address_v4::loopback());
  EXPECT_EQ(socket.set(leave), EADDRNOTAVAIL);
  EXPECT_EQ(socket.set(join), 0);
  EXPECT_EQ(socket.set(join), EADDRINUSE);
  EXPECT_EQ(socket.set(leave), 0);
  EXPECT_EQ(socket.set(ip::multicast::join_group(ip::address(ip::address_v4::loopback()))), EINVAL);
  EXPECT_EQ(socket.set(ip::multicast::outbound_interface(ip::address_v4::loopback())), 0);
}

TEST(socket_option, v6_group_takes_its_interface_from_the_scope_of_the_address) {
  bare_socket socket(udp::v6());
  const unsigned index = if_nametoindex("lo");
  if (socket.fd() < 0 || index == 0)
    GTEST_SKIP() << "no IPv6 loopback";
  const auto group = ip::make_address_v6("ff02::1234");
  auto scoped = group;
  scoped.scope_id(index);
  if (socket.set(ip::multicast::join_group(ip::address(scoped))) == ENODEV)
    GTEST_SKIP() << "the loopback interface has no IPv6";
  EXPECT_EQ(socket.set(ip::multicast::join_group(group, index)), EADDRINUSE);
  EXPECT_EQ(socket.set(ip::multicast::leave_group(group, index)), 0);
  EXPECT_EQ(socket.set(ip::multicast::outbound_interface(index)), 0);
  EXPECT_EQ(socket.raw(IPPROTO_IPV6, IPV6_MULTICAST_IF), static_cast<int>(index));
}

TEST(socket_option, options_of_ones_own_come_from_the_templates) {
  using priority = weft::socket_option::integer<SOL_SOCKET, SO_PRIORITY>;
  using timestamp = weft::detail::socket_option::boolean<SOL_SOCKET, SO_TIMESTAMP>;
  bare_socket socket(udp::v4());
  EXPECT_EQ(socket.set(priority(3)), 0);
  EXPECT_EQ(socket.get<priority>().value(), 3);
  EXPECT_EQ(socket.set(timestamp(true)), 0);
  EXPECT_TRUE(socket.get<timestamp>());
}

TEST(socket_option, value_of_another_size_is_a_length_error) {
  tcp::no_delay boolean;
  socket_base::send_buffer_size integer;
  socket_base::linger linger;
  ip::unicast::hops hops;
  EXPECT_THROW(boolean.resize(tcp::v4(), 1), std::length_error);
  EXPECT_THROW(integer.resize(tcp::v4(), 8), std::length_error);
  EXPECT_THROW(linger.resize(tcp::v4(), 4), std::length_error);
  EXPECT_THROW(hops.resize(tcp::v4(), 1), std::length_error);
}

TEST(socket_option, values_can_be_assigned_and_tested) {
  tcp::no_delay option;
  EXPECT_TRUE(!option);
  option = true;
  EXPECT_TRUE(option && option.value());
  socket_base::send_buffer_size size;
  size = 5;
  EXPECT_EQ(size.value(), 5);
}

TEST(io_control, bytes_readable_counts_what_has_arrived) {
  int pair[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
  ASSERT_EQ(::write(pair[0], "hello", 5), 5);
  socket_base::bytes_readable command(true);
  EXPECT_EQ(::ioctl(pair[1], static_cast<unsigned long>(command.name()), command.data()), 0);
  EXPECT_EQ(command.get(), 5u);
  command.set(0);
  EXPECT_EQ(command.get(), 0u);
  ::close(pair[0]);
  ::close(pair[1]);
}

TEST(socket_base, constants_are_those_of_the_system) {
  EXPECT_EQ(socket_base::message_peek, MSG_PEEK);
  EXPECT_EQ(socket_base::message_out_of_band, MSG_OOB);
  EXPECT_EQ(socket_base::message_do_not_route, MSG_DONTROUTE);
  EXPECT_EQ(socket_base::message_end_of_record, MSG_EOR);
  EXPECT_EQ(socket_base::shutdown_receive, SHUT_RD);
  EXPECT_EQ(socket_base::shutdown_send, SHUT_WR);
  EXPECT_EQ(socket_base::shutdown_both, SHUT_RDWR);
  EXPECT_EQ(socket_base::max_listen_connections, SOMAXCONN);
}

}  // namespace
