// SPDX-License-Identifier: BSL-1.0
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/base/error.hpp>
#include <weft/net/network_v4.hpp>
#include <weft/net/network_v6.hpp>

namespace {

using weft::error_code;
using weft::ip::make_address_v4;
using weft::ip::make_address_v6;
using weft::ip::make_network_v4;
using weft::ip::make_network_v6;
using weft::ip::network_v4;
using weft::ip::network_v6;

TEST(network_v4, parts_follow_from_address_and_prefix) {
  const network_v4 net = make_network_v4("10.1.2.3/20");
  EXPECT_EQ(net.address().to_string(), "10.1.2.3");
  EXPECT_EQ(net.prefix_length(), 20);
  EXPECT_EQ(net.netmask().to_string(), "255.255.240.0");
  EXPECT_EQ(net.network().to_string(), "10.1.0.0");
  EXPECT_EQ(net.broadcast().to_string(), "10.1.15.255");
  EXPECT_EQ(net.canonical().to_string(), "10.1.0.0/20");
  EXPECT_FALSE(net.is_host());
}

TEST(network_v4, every_prefix_length_has_its_netmask_and_back) {
  for (unsigned short length = 0; length <= 32; ++length) {
    const network_v4 net(make_address_v4("10.1.2.3"), length);
    EXPECT_EQ(network_v4(net.address(), net.netmask()), net) << length;
    EXPECT_EQ(make_network_v4(net.to_string()), net) << length;
  }
}

TEST(network_v4, netmask_with_a_gap_is_refused) {
  EXPECT_THROW(make_network_v4(make_address_v4("10.0.0.0"), make_address_v4("255.0.255.0")),
               std::invalid_argument);
  EXPECT_THROW(make_network_v4(make_address_v4("10.0.0.0"), make_address_v4("0.0.0.255")),
               std::invalid_argument);
}

TEST(network_v4, prefix_length_above_32_is_refused) {
  EXPECT_THROW(network_v4(make_address_v4("10.0.0.0"), 33), std::out_of_range);
}

TEST(network_v4, text_that_is_no_network_is_invalid_argument) {
  for (std::string_view text :
       {"", "/", "10.0.0.0", "10.0.0.0/", "/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8",
        "10.0.0.0/8 ", "10.0.0.0/ 8", "10.0.0.0/8/8", "10.0.0/8", "10.0.0.0/65544", "::/8"}) {
    error_code ec;
    EXPECT_EQ(make_network_v4(text, ec), network_v4()) << text;
    EXPECT_EQ(ec, weft::error::invalid_argument) << text;
    EXPECT_THROW(make_network_v4(text), weft::system_error) << text;
  }
}

TEST(network_v4, hosts_leave_out_network_and_broadcast_address) {
  const auto hosts = make_network_v4("192.168.1.77/29").hosts();
  EXPECT_EQ(hosts.begin()->to_string(), "192.168.1.73");
  EXPECT_EQ(hosts.end()->to_string(), "192.168.1.79");
  EXPECT_EQ(hosts.size(), 6u);
}

TEST(network_v4, hosts_of_the_smallest_networks_are_all_their_addresses) {
  EXPECT_EQ(make_network_v4("10.0.0.7/32").hosts().size(), 1u);
  EXPECT_EQ(make_network_v4("10.0.0.7/32").hosts().begin()->to_string(), "10.0.0.7");
  EXPECT_EQ(make_network_v4("10.0.0.7/31").hosts().size(), 2u);
  EXPECT_EQ(make_network_v4("10.0.0.7/31").hosts().begin()->to_string(), "10.0.0.6");
  EXPECT_EQ(make_network_v4("255.255.255.255/32").hosts().size(), 1u);
  EXPECT_TRUE(make_network_v4("10.0.0.7/32").is_host());
}

TEST(network_v4, subnet_is_within_and_smaller) {
  const network_v4 big = make_network_v4("10.0.0.0/8");
  EXPECT_TRUE(make_network_v4("10.20.0.0/16").is_subnet_of(big));
  EXPECT_FALSE(big.is_subnet_of(make_network_v4("10.20.0.0/16")));
  EXPECT_FALSE(big.is_subnet_of(big));
  EXPECT_FALSE(make_network_v4("11.0.0.0/16").is_subnet_of(big));
  EXPECT_TRUE(big.is_subnet_of(network_v4()));
}

TEST(network_v4, equality_counts_host_bits) {
  EXPECT_EQ(make_network_v4("10.0.0.1/8"), make_network_v4("10.0.0.1/8"));
  EXPECT_NE(make_network_v4("10.0.0.1/8"), make_network_v4("10.0.0.0/8"));
  EXPECT_NE(make_network_v4("10.0.0.1/8"), make_network_v4("10.0.0.1/9"));
}

TEST(network, streams_and_to_string_agree) {
  std::ostringstream os;
  os << make_network_v4("10.0.0.1/8") << ' ' << make_network_v6("2001:db8::1/32");
  EXPECT_EQ(os.str(), "10.0.0.1/8 2001:db8::1/32");
  error_code ec = weft::error::invalid_argument;
  EXPECT_EQ(make_network_v4("10.0.0.1/8").to_string(ec), "10.0.0.1/8");
  EXPECT_FALSE(ec);
}

TEST(network_v6, parts_follow_from_address_and_prefix) {
  const network_v6 net = make_network_v6("2001:db8:ffff:ffff::1/33");
  EXPECT_EQ(net.address().to_string(), "2001:db8:ffff:ffff::1");
  EXPECT_EQ(net.prefix_length(), 33);
  EXPECT_EQ(net.network().to_string(), "2001:db8:8000::");
  EXPECT_EQ(net.canonical().to_string(), "2001:db8:8000::/33");
}

TEST(network_v6, every_prefix_length_round_trips) {
  for (unsigned short length = 0; length <= 128; ++length) {
    const network_v6 net(make_address_v6("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), length);
    EXPECT_EQ(make_network_v6(net.to_string()), net) << length;
    unsigned bits = 0;
    for (unsigned char byte : net.network().to_bytes())
      for (; byte != 0; byte = static_cast<unsigned char>(byte << 1))
        ++bits;
    EXPECT_EQ(bits, length);
  }
}

TEST(network_v6, prefix_length_above_128_is_refused) {
  EXPECT_THROW(network_v6(make_address_v6("::"), 129), std::out_of_range);
}

TEST(network_v6, bad_text_is_refused_with_a_reason) {
  for (std::string_view text :
       {"", "::", "::/", "::/129", "::/-1", "::/1 ", "1.2.3.4/8", "::/1/1", ":/1"}) {
    error_code ec;
    EXPECT_EQ(make_network_v6(text, ec), network_v6()) << text;
    EXPECT_EQ(ec, weft::error::invalid_argument) << text;
  }
  error_code ec;
  make_network_v6("fe80::%nosuchif/64", ec);
  EXPECT_EQ(ec, weft::error::no_such_device);
}

TEST(network_v6, scope_stands_before_the_slash_and_is_kept) {
  const network_v6 net = make_network_v6("2001:db8::1%7/32");
  EXPECT_EQ(net.network().scope_id(), 7u);
  EXPECT_EQ(net.to_string(), "2001:db8::1%7/32");
  EXPECT_EQ(net.hosts().begin()->scope_id(), 7u);
}

TEST(network_v6, hosts_are_all_addresses) {
  const auto hosts = make_network_v6("2001:db8::5/126").hosts();
  EXPECT_EQ(hosts.begin()->to_string(), "2001:db8::4");
  EXPECT_EQ(std::distance(hosts.begin(), hosts.end()), 4);
  const auto one = make_network_v6("::1/128").hosts();
  EXPECT_EQ(std::distance(one.begin(), one.end()), 1);
  EXPECT_FALSE(network_v6().hosts().empty());
}

TEST(network_v6, subnet_is_within_and_smaller) {
  EXPECT_TRUE(make_network_v6("2001:db8:1::/48").is_subnet_of(make_network_v6("2001:db8::/32")));
  EXPECT_FALSE(make_network_v6("2001:db9::/48").is_subnet_of(make_network_v6("2001:db8::/32")));
  EXPECT_FALSE(make_network_v6("2001:db8::/32").is_subnet_of(make_network_v6("2001:db8::/32")));
}

}  // namespace
