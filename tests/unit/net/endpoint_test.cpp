// SPDX-License-Identifier: BSL-1.0
#include <cstddef>
#include <cstring>
#include <sstream>
#include <string>
#include <typeinfo>
#include <unordered_set>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <weft/base/error.hpp>
#include <weft/net/generic_protocol.hpp>
#include <weft/net/host_name.hpp>
#include <weft/net/icmp_protocol.hpp>
#include <weft/net/local_protocol.hpp>
#include <weft/net/tcp_protocol.hpp>
#include <weft/net/udp_protocol.hpp>

#include "support/error_code.hpp"

namespace {

namespace ip = weft::ip;
namespace local = weft::local;
namespace generic = weft::generic;
using weft::ip::tcp;
using weft::ip::udp;
using weft_test::code_thrown_by;

template <class T>
std::string streamed(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

TEST(protocol, gives_the_arguments_of_socket) {
  EXPECT_EQ(tcp::v4().family(), AF_INET);
  EXPECT_EQ(tcp::v6().family(), AF_INET6);
  EXPECT_EQ(tcp::v4().type(), SOCK_STREAM);
  EXPECT_EQ(tcp::v4().protocol(), IPPROTO_TCP);
  EXPECT_EQ(udp::v4().type(), SOCK_DGRAM);
  EXPECT_EQ(udp::v4().protocol(), IPPROTO_UDP);
  EXPECT_EQ(ip::icmp::v4().type(), SOCK_RAW);
  EXPECT_EQ(ip::icmp::v4().protocol(), IPPROTO_ICMP);
  EXPECT_EQ(ip::icmp::v6().protocol(), IPPROTO_ICMPV6);
  EXPECT_EQ(local::stream_protocol().family(), AF_UNIX);
  EXPECT_EQ(local::stream_protocol().type(), SOCK_STREAM);
  EXPECT_EQ(local::datagram_protocol().type(), SOCK_DGRAM);
  EXPECT_EQ(local::seq_packet_protocol().type(), SOCK_SEQPACKET);
  EXPECT_NE(tcp::v4(), tcp::v6());
  EXPECT_EQ(udp::v6(), udp::v6());
}

TEST(ip_endpoint, default_is_the_unspecified_v4_address_and_port_0) {
  const tcp::endpoint e;
  EXPECT_EQ(e.address(), ip::address());
  EXPECT_EQ(e.port(), 0);
  EXPECT_EQ(e.protocol(), tcp::v4());
}

TEST(ip_endpoint, protocol_decides_the_unspecified_address) {
  EXPECT_EQ(streamed(tcp::endpoint(tcp::v4(), 80)), "0.0.0.0:80");
  EXPECT_EQ(streamed(tcp::endpoint(tcp::v6(), 80)), "[::]:80");
  EXPECT_EQ(tcp::endpoint(tcp::v6(), 80).protocol(), tcp::v6());
}

TEST(ip_endpoint, bytes_are_the_native_v4_address) {
  const udp::endpoint e(ip::make_address("1.2.3.4"), 0x1234);
  sockaddr_in native;
  ASSERT_EQ(e.size(), sizeof(native));
  std::memcpy(&native, e.data(), sizeof(native));
  EXPECT_EQ(native.sin_family, AF_INET);
  EXPECT_EQ(native.sin_port, htons(0x1234));
  EXPECT_EQ(native.sin_addr.s_addr, htonl(0x01020304));
}

TEST(ip_endpoint, bytes_are_the_native_v6_address) {
  const udp::endpoint e(ip::make_address("fe80::1:2%9"), 443);
  sockaddr_in6 native;
  ASSERT_EQ(e.size(), sizeof(native));
  std::memcpy(&native, e.data(), sizeof(native));
  EXPECT_EQ(native.sin6_family, AF_INET6);
  EXPECT_EQ(native.sin6_port, htons(443));
  EXPECT_EQ(native.sin6_scope_id, 9u);
  EXPECT_EQ(native.sin6_flowinfo, 0u);
  EXPECT_EQ(native.sin6_addr.s6_addr[15], 2);
}

TEST(ip_endpoint, takes_what_a_system_call_writes) {
  sockaddr_in6 native{};
  native.sin6_family = AF_INET6;
  native.sin6_port = htons(99);
  native.sin6_addr = in6addr_loopback;
  native.sin6_flowinfo = 77;
  tcp::endpoint e;
  ASSERT_GE(e.capacity(), sizeof(native));
  std::memcpy(e.data(), &native, sizeof(native));
  e.resize(sizeof(native));
  EXPECT_EQ(e, tcp::endpoint(ip::address_v6::loopback(), 99));
  EXPECT_EQ(e.size(), sizeof(native));
}

TEST(ip_endpoint, resize_above_capacity_is_invalid_argument) {
  tcp::endpoint e;
  EXPECT_EQ(code_thrown_by([&] { e.resize(e.capacity() + 1); }), weft::error::invalid_argument);
  EXPECT_NO_THROW(e.resize(e.capacity()));
}

TEST(ip_endpoint, address_and_port_change_by_themselves) {
  tcp::endpoint e(ip::make_address("1.2.3.4"), 80);
  e.address(ip::make_address("::1"));
  EXPECT_EQ(streamed(e), "[::1]:80");
  e.port(65535);
  EXPECT_EQ(streamed(e), "[::1]:65535");
  e.address(ip::make_address("5.6.7.8"));
  EXPECT_EQ(e, tcp::endpoint(ip::make_address("5.6.7.8"), 65535));
}

TEST(ip_endpoint, order_is_by_address_then_by_port) {
  const tcp::endpoint a(ip::make_address("1.2.3.4"), 2);
  const tcp::endpoint b(ip::make_address("1.2.3.4"), 10);
  const tcp::endpoint c(ip::make_address("1.2.3.5"), 1);
  EXPECT_TRUE(a < b && b < c && a <= b && c > b && c >= c && a != b);
}

TEST(ip_endpoint, equal_endpoints_find_each_other_by_hash) {
  std::unordered_set<udp::endpoint> set{{ip::make_address("1.2.3.4"), 1},
                                        {ip::make_address("1.2.3.4"), 2},
                                        {ip::make_address("::1"), 1}};
  EXPECT_EQ(set.size(), 3u);
  EXPECT_TRUE(set.count({ip::make_address("::1"), 1}));
}

TEST(local_endpoint, path_round_trips_and_ends_with_a_nul) {
  const local::stream_protocol::endpoint e("/tmp/x");
  EXPECT_EQ(e.path(), "/tmp/x");
  EXPECT_EQ(e.size(), offsetof(sockaddr_un, sun_path) + 6);
  sockaddr_un native{};
  std::memcpy(&native, e.data(), e.size() + 1);
  EXPECT_EQ(native.sun_family, AF_UNIX);
  EXPECT_STREQ(native.sun_path, "/tmp/x");
  EXPECT_EQ(streamed(e), "/tmp/x");
  EXPECT_EQ(e.protocol().type(), SOCK_STREAM);
}

TEST(local_endpoint, default_has_no_name) {
  const local::datagram_protocol::endpoint e;
  EXPECT_EQ(e.path(), "");
  EXPECT_EQ(e.size(), offsetof(sockaddr_un, sun_path));
  EXPECT_EQ(e, local::datagram_protocol::endpoint(""));
}

TEST(local_endpoint, abstract_name_keeps_its_nuls) {
  const std::string name("\0a\0b", 4);
  const local::stream_protocol::endpoint e(name);
  EXPECT_EQ(e.path(), name);
  EXPECT_EQ(e.size(), offsetof(sockaddr_un, sun_path) + 4);
  EXPECT_EQ(streamed(local::stream_protocol::endpoint(std::string("\0ab", 3))), "@ab");
}

TEST(local_endpoint, longest_names_fit_and_longer_ones_are_name_too_long) {
  const std::string longest(107, 'x');
  EXPECT_EQ(local::stream_protocol::endpoint(longest).path(), longest);
  EXPECT_EQ(code_thrown_by([&] { local::stream_protocol::endpoint e(longest + 'x'); }),
            weft::error::name_too_long);
  const std::string abstract = '\0' + longest;
  EXPECT_EQ(local::stream_protocol::endpoint(abstract).size(), sizeof(sockaddr_un));
  EXPECT_EQ(code_thrown_by([&] { local::stream_protocol::endpoint e(abstract + 'x'); }),
            weft::error::name_too_long);
}

TEST(local_endpoint, path_that_does_not_fit_changes_nothing) {
  local::stream_protocol::endpoint e("/tmp/x");
  EXPECT_THROW(e.path(std::string(200, 'x')), weft::system_error);
  EXPECT_EQ(e.path(), "/tmp/x");
}

TEST(local_endpoint, resize_finds_the_path_that_the_system_wrote) {
  local::stream_protocol::endpoint e("/tmp/longer");
  sockaddr_un native{};
  native.sun_family = AF_UNIX;
  std::strcpy(native.sun_path, "/tmp/y");
  std::memcpy(e.data(), &native, sizeof(native));
  e.resize(offsetof(sockaddr_un, sun_path) + 7);
  EXPECT_EQ(e.path(), "/tmp/y");
  std::memcpy(e.data(), &native, sizeof(native));
  e.resize(sizeof(native));
  EXPECT_EQ(e.path(), "/tmp/y");
  e.resize(2);
  EXPECT_EQ(e.path(), "");
  e.resize(0);
  EXPECT_EQ(e.path(), "");
  EXPECT_EQ(code_thrown_by([&] { e.resize(sizeof(native) + 1); }), weft::error::invalid_argument);
}

TEST(local_endpoint, kernel_reports_the_name_that_was_bound) {
  const local::datagram_protocol::endpoint name(std::string("\0weft-endpoint-test-", 20) +
                                                std::to_string(::getpid()));
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(::bind(fd, name.data(), static_cast<socklen_t>(name.size())), 0);
  local::datagram_protocol::endpoint reported;
  auto size = static_cast<socklen_t>(reported.capacity());
  EXPECT_EQ(::getsockname(fd, reported.data(), &size), 0);
  reported.resize(size);
  EXPECT_EQ(reported, name);
  ::close(fd);
}

TEST(local_endpoint, order_and_hash_are_by_path) {
  const local::stream_protocol::endpoint a("/a"), b("/b");
  EXPECT_TRUE(a < b && a <= b && b > a && a != b);
  std::unordered_set<local::stream_protocol::endpoint> set{a, b, a};
  EXPECT_EQ(set.size(), 2u);
}

TEST(generic_endpoint, carries_any_endpoint_and_its_protocol) {
  const tcp::endpoint specific(ip::make_address("::1"), 80);
  const generic::stream_protocol::endpoint e(specific);
  EXPECT_EQ(e.size(), specific.size());
  EXPECT_EQ(std::memcmp(e.data(), specific.data(), e.size()), 0);
  EXPECT_EQ(e.protocol().family(), AF_INET6);
  EXPECT_EQ(e.protocol().protocol(), IPPROTO_TCP);
  EXPECT_EQ(e, generic::stream_protocol::endpoint(specific.data(), specific.size()));
  EXPECT_NE(e, generic::stream_protocol::endpoint());
  EXPECT_TRUE(generic::stream_protocol::endpoint() < e);
  const generic::stream_protocol::endpoint file(local::stream_protocol::endpoint("/tmp/x"));
  EXPECT_EQ(file.protocol().family(), AF_UNIX);
}

TEST(generic_endpoint, address_above_capacity_is_invalid_argument) {
  unsigned char bytes[sizeof(sockaddr_storage) + 1] = {};
  EXPECT_EQ(code_thrown_by([&] { generic::raw_protocol::endpoint e(bytes, sizeof(bytes)); }),
            weft::error::invalid_argument);
  generic::raw_protocol::endpoint e(bytes, sizeof(bytes) - 1);
  EXPECT_EQ(e.size(), e.capacity());
}

TEST(generic_protocol, takes_a_protocol_of_its_own_type_only) {
  const generic::stream_protocol stream(tcp::v6());
  EXPECT_EQ(stream.family(), AF_INET6);
  EXPECT_EQ(stream.protocol(), IPPROTO_TCP);
  EXPECT_EQ(stream, generic::stream_protocol(AF_INET6, IPPROTO_TCP));
  EXPECT_NE(stream, generic::stream_protocol(tcp::v4()));
  EXPECT_THROW(generic::stream_protocol{udp::v4()}, std::bad_cast);
  EXPECT_THROW(generic::datagram_protocol{tcp::v4()}, std::bad_cast);
  EXPECT_THROW(generic::raw_protocol{tcp::v4()}, std::bad_cast);
  EXPECT_THROW(generic::seq_packet_protocol{tcp::v4()}, std::bad_cast);
  EXPECT_EQ(generic::datagram_protocol(udp::v4()).type(), SOCK_DGRAM);
  EXPECT_EQ(generic::raw_protocol(ip::icmp::v4()).protocol(), IPPROTO_ICMP);
  EXPECT_EQ(generic::seq_packet_protocol(local::seq_packet_protocol()).family(), AF_UNIX);
}

TEST(host_name, is_what_the_system_says) {
  char expected[256] = {};
  ASSERT_EQ(::gethostname(expected, sizeof(expected) - 1), 0);
  weft::error_code ec = weft::error::invalid_argument;
  EXPECT_EQ(ip::host_name(ec), expected);
  EXPECT_FALSE(ec);
  EXPECT_EQ(ip::host_name(), expected);
}

}  // namespace
