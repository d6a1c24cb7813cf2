// SPDX-License-Identifier: BSL-1.0
#include <weft/net/address.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <weft/base/error.hpp>

namespace {

using weft::error_code;
using weft::ip::address;
using weft::ip::address_v4;
using weft::ip::address_v6;
using weft::ip::make_address;
using weft::ip::make_address_v4;
using weft::ip::make_address_v6;

template <class T>
std::string streamed(const T& value) {
  std::ostringstream os;
  os << value;
  return os.str();
}

TEST(address_v4, bytes_and_number_are_two_views_of_one_value) {
  constexpr address_v4 a(address_v4::bytes_type{192, 168, 1, 10});
  static_assert(a.to_uint() == 0xC0A8010A);
  static_assert(address_v4(address_v4::uint_type{0xC0A8010A}) == a);
  EXPECT_EQ(a.to_bytes(), (address_v4::bytes_type{192, 168, 1, 10}));
  EXPECT_EQ(make_address_v4(a.to_bytes()), a);
  EXPECT_EQ(make_address_v4(a.to_uint()), a);
}

TEST(address_v4, default_is_unspecified) {
  EXPECT_TRUE(address_v4().is_unspecified());
  EXPECT_EQ(address_v4(), address_v4::any());
  EXPECT_EQ(address_v4().to_string(), "0.0.0.0");
}

TEST(address_v4, text_round_trips) {
  for (const char* text : {"0.0.0.0", "127.0.0.1", "255.255.255.255", "1.2.3.4", "10.0.200.99"}) {
    EXPECT_EQ(make_address_v4(text).to_string(), text);
    EXPECT_EQ(streamed(make_address_v4(text)), text);
  }
}

TEST(address_v4, every_byte_value_round_trips_in_every_place) {
  for (unsigned place = 0; place < 4; ++place)
    for (unsigned value = 0; value < 256; ++value) {
      const address_v4 a(address_v4::uint_type{value << (8 * place)});
      EXPECT_EQ(make_address_v4(a.to_string()), a);
    }
}

TEST(address_v4, text_that_is_no_address_is_invalid_argument) {
  for (std::string_view text :
       {"", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.-4", "1.2.3.4 ", " 1.2.3.4", "a.b.c.d",
        "1..2.3", "1.2.3.", "01.2.3.4", "0x1.2.3.4", "1.2.3.4/8", "::1", "1.2.3.4%1",
        "1111111111111111111111111111111111111111111111111111111111111.1.1.1"}) {
    error_code ec;
    EXPECT_EQ(make_address_v4(text, ec), address_v4()) << text;
    EXPECT_EQ(ec, weft::error::invalid_argument) << text;
    EXPECT_THROW(make_address_v4(text), weft::system_error) << text;
  }
}

TEST(address_v4, text_with_a_nul_inside_is_invalid_argument) {
  error_code ec;
  make_address_v4(std::string_view("1.2.3.4\0", 8), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
  make_address_v6(std::string_view("::1\0", 4), ec);
  EXPECT_EQ(ec, weft::error::invalid_argument);
}

TEST(address_v4, success_clears_the_error_code) {
  error_code ec = weft::error::invalid_argument;
  make_address_v4("1.2.3.4", ec);
  EXPECT_FALSE(ec);
  ec = weft::error::invalid_argument;
  make_address_v6("::", ec);
  EXPECT_FALSE(ec);
  ec = weft::error::invalid_argument;
  make_address("::", ec);
  EXPECT_FALSE(ec);
}

TEST(address_v4, kinds_are_told_by_their_blocks) {
  EXPECT_TRUE(make_address_v4("127.255.0.3").is_loopback());
  EXPECT_FALSE(make_address_v4("128.0.0.1").is_loopback());
  EXPECT_TRUE(make_address_v4("224.0.0.1").is_multicast());
  EXPECT_TRUE(make_address_v4("239.255.255.255").is_multicast());
  EXPECT_FALSE(make_address_v4("240.0.0.0").is_multicast());
  EXPECT_EQ(address_v4::loopback().to_string(), "127.0.0.1");
  EXPECT_EQ(address_v4::broadcast().to_string(), "255.255.255.255");
}

TEST(address_v4, order_is_numeric) {
  EXPECT_LT(make_address_v4("9.0.0.0"), make_address_v4("10.0.0.0"));
  EXPECT_GE(make_address_v4("10.0.0.1"), make_address_v4("10.0.0.0"));
  EXPECT_NE(make_address_v4("10.0.0.1"), make_address_v4("10.0.0.0"));
}

TEST(address_v6, text_round_trips) {
  for (const char* text :
       {"::", "::1", "1::", "2001:db8::1", "fe80::1234:5678:9abc:def0", "1:2:3:4:5:6:7:8",
        "ff02::1", "::ffff:1.2.3.4", "2001:db8:0:1::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}) {
    EXPECT_EQ(make_address_v6(text).to_string(), text);
    EXPECT_EQ(streamed(make_address_v6(text)), text);
  }
}

TEST(address_v6, equal_addresses_have_one_text) {
  for (const char* text : {"0:0:0:0:0:0:0:1", "0000::0001", "::0.0.0.1"})
    EXPECT_EQ(make_address_v6(text).to_string(), "::1");
  EXPECT_EQ(make_address_v6("2001:DB8::A").to_string(), "2001:db8::a");
}

TEST(address_v6, text_that_is_no_address_is_invalid_argument) {
  for (std::string_view text :
       {"", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
        "12345::", "g::", "::1 ", " ::1", "[::1]", "::1/64", "127.0.0.1", "::256.1.1.1", "%1",
        "fe80::1%99999999999", "fe80::1%4294967296"}) {
    error_code ec;
    EXPECT_EQ(make_address_v6(text, ec), address_v6()) << text;
    EXPECT_EQ(ec, weft::error::invalid_argument) << text;
    EXPECT_THROW(make_address_v6(text), weft::system_error) << text;
  }
}

TEST(address_v6, scope_may_be_a_number) {
  EXPECT_EQ(make_address_v6("::1%"), make_address_v6("::1"));
  const address_v6 a = make_address_v6("2001:db8::1%42");
  EXPECT_EQ(a.scope_id(), 42u);
  EXPECT_EQ(a.to_string(), "2001:db8::1%42");
  EXPECT_EQ(make_address_v6("fe80::1%4294967295").scope_id(), 4294967295u);
}

TEST(address_v6, scope_may_be_the_name_of_an_interface) {
  const unsigned index = if_nametoindex("lo");
  if (index == 0)
    GTEST_SKIP() << "no interface named lo";
  const address_v6 a = make_address_v6("fe80::1%lo");
  EXPECT_EQ(a.scope_id(), index);
  EXPECT_EQ(a.to_string(), "fe80::1%lo");
  EXPECT_EQ(make_address_v6("ff02::1%lo").to_string(), "ff02::1%lo");
}

TEST(address_v6, scope_that_names_no_interface_is_no_such_device) {
  for (std::string_view text : {"fe80::1%nosuchif", "fe80::1%-1", "fe80::1%1x", "fe80::1%lo%lo",
                                "fe80::1%aninterfacenamethatistoolong"}) {
    error_code ec;
    EXPECT_EQ(make_address_v6(text, ec), address_v6()) << text;
    EXPECT_EQ(ec, weft::error::no_such_device) << text;
  }
}

TEST(address_v6, scope_of_an_interface_that_is_gone_is_written_as_a_number) {
  address_v6 a = make_address_v6("fe80::1");
  a.scope_id(4000000000);
  EXPECT_EQ(a.to_string(), "fe80::1%4000000000");
}

TEST(address_v6, kinds_are_told_by_their_prefixes) {
  EXPECT_TRUE(make_address_v6("::1").is_loopback());
  EXPECT_FALSE(make_address_v6("::2").is_loopback());
  EXPECT_TRUE(address_v6().is_unspecified());
  EXPECT_TRUE(make_address_v6("fe80::1").is_link_local());
  EXPECT_TRUE(make_address_v6("febf::1").is_link_local());
  EXPECT_FALSE(make_address_v6("fec0::1").is_link_local());
  EXPECT_TRUE(make_address_v6("fec0::1").is_site_local());
  EXPECT_FALSE(make_address_v6("fe80::1").is_site_local());
  EXPECT_TRUE(make_address_v6("::ffff:1.2.3.4").is_v4_mapped());
  EXPECT_FALSE(make_address_v6("::1.2.3.4").is_v4_mapped());
  EXPECT_FALSE(make_address_v6("1::ffff:1.2.3.4").is_v4_mapped());
  EXPECT_TRUE(make_address_v6("ff01::1").is_multicast_node_local());
  EXPECT_TRUE(make_address_v6("ff02::1").is_multicast_link_local());
  EXPECT_TRUE(make_address_v6("ff15::1").is_multicast_site_local());
  EXPECT_TRUE(make_address_v6("ff08::1").is_multicast_org_local());
  EXPECT_TRUE(make_address_v6("ff0e::1").is_multicast_global());
  EXPECT_FALSE(make_address_v6("fe0e::1").is_multicast_global());
  EXPECT_TRUE(make_address_v6("ff0e::1").is_multicast());
}

TEST(address_v6, order_is_by_bytes_then_by_scope) {
  EXPECT_LT(make_address_v6("1::"), make_address_v6("1::1"));
  EXPECT_LT(make_address_v6("fe80::1%1"), make_address_v6("fe80::1%2"));
  EXPECT_LT(make_address_v6("fe80::1%2"), make_address_v6("fe80::2%1"));
  EXPECT_NE(make_address_v6("fe80::1%1"), make_address_v6("fe80::1%2"));
}

TEST(v4_mapped, conversion_goes_both_ways) {
  const address_v4 v4 = make_address_v4("1.2.3.4");
  const address_v6 v6 = make_address_v6(weft::ip::v4_mapped, v4);
  EXPECT_EQ(v6.to_string(), "::ffff:1.2.3.4");
  EXPECT_EQ(make_address_v4(weft::ip::v4_mapped, v6), v4);
}

TEST(v4_mapped, address_that_is_not_mapped_is_a_bad_cast) {
  EXPECT_THROW(make_address_v4(weft::ip::v4_mapped, address_v6::loopback()),
               weft::ip::bad_address_cast);
}

TEST(address, holds_either_version) {
  const address v4 = make_address("1.2.3.4");
  const address v6 = make_address("fe80::1%7");
  EXPECT_TRUE(v4.is_v4() && !v4.is_v6());
  EXPECT_TRUE(v6.is_v6() && !v6.is_v4());
  EXPECT_EQ(v4.to_v4(), make_address_v4("1.2.3.4"));
  EXPECT_EQ(v6.to_v6().scope_id(), 7u);
  EXPECT_EQ(streamed(v4), "1.2.3.4");
  EXPECT_EQ(address(), address(address_v4()));
}

TEST(address, conversion_to_the_other_version_is_a_bad_cast) {
  EXPECT_THROW(make_address("1.2.3.4").to_v6(), weft::ip::bad_address_cast);
  try {
    make_address("::1").to_v4();
    ADD_FAILURE() << "no exception";
  } catch (const std::bad_cast& e) {
    EXPECT_STREQ(e.what(), "bad address cast");
  }
}

TEST(address, assignment_of_a_version_replaces_the_other) {
  address a = make_address("::1");
  a = make_address_v4("1.2.3.4");
  EXPECT_EQ(a, make_address("1.2.3.4"));
  a = make_address_v6("::2");
  EXPECT_EQ(a, make_address("::2"));
}

TEST(address, error_is_that_of_the_version_the_text_looks_like) {
  error_code ec;
  EXPECT_EQ(make_address("fe80::1%nosuchif", ec), address());
  EXPECT_EQ(ec, weft::error::no_such_device);
  EXPECT_EQ(make_address("1.2.3", ec), address());
  EXPECT_EQ(ec, weft::error::invalid_argument);
  EXPECT_THROW(make_address("localhost"), weft::system_error);
}

TEST(address, questions_are_answered_by_the_version_held) {
  EXPECT_TRUE(make_address("127.0.0.1").is_loopback());
  EXPECT_TRUE(make_address("::1").is_loopback());
  EXPECT_TRUE(make_address("ff02::1").is_multicast());
  EXPECT_TRUE(make_address("224.0.0.1").is_multicast());
  EXPECT_TRUE(make_address("::").is_unspecified());
  EXPECT_FALSE(make_address("::1").is_unspecified());
}

TEST(address, sorts_v4_before_v6) {
  std::vector<address> list{make_address("::1"), make_address("200.0.0.1"), make_address("::"),
                            make_address("1.0.0.1")};
  std::sort(list.begin(), list.end());
  EXPECT_EQ(list, (std::vector<address>{make_address("1.0.0.1"), make_address("200.0.0.1"),
                                        make_address("::"), make_address("::1")}));
}

TEST(address, equal_values_hash_alike_and_find_each_other) {
  std::unordered_set<address> set;
  for (const char* text : {"1.2.3.4", "::1", "fe80::1%1", "fe80::1%2", "1.2.3.4"})
    set.insert(make_address(text));
  EXPECT_EQ(set.size(), 4u);
  EXPECT_TRUE(set.count(make_address("fe80::1%2")));
  EXPECT_EQ(std::hash<address_v4>()(address_v4::loopback()),
            std::hash<address_v4>()(make_address_v4("127.0.0.1")));
  EXPECT_EQ(std::hash<address_v6>()(address_v6::loopback()),
            std::hash<address_v6>()(make_address_v6("::1")));
}

TEST(address, wide_streams_take_addresses) {
  std::wostringstream os;
  os << make_address("1.2.3.4") << L' ' << make_address("::1");
  EXPECT_EQ(os.str(), L"1.2.3.4 ::1");
}

}  // namespace
