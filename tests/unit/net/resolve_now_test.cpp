// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/resolve_now.hpp"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <weft/base/error.hpp>

#include "net/resolver/address_families.hpp"
#include "unit/net/fake_dns_server.hpp"

namespace {

using namespace std::chrono_literals;

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;
using weft::detail::resolve_answer;
using weft::detail::resolve_now;
using weft::detail::resolve_request;
using weft::ip::resolver_options;
using flag = weft::ip::resolver_base;
namespace os = weft::detail::os;
namespace ip = weft::ip;

resolve_request forward(std::string host, std::string service, int family = os::af_unspec,
                        flag::flags flags = {}) {
  resolve_request request;
  request.host = std::move(host);
  request.service = std::move(service);
  request.family = family;
  request.flags = flags;
  return request;
}

resolve_request reverse(const char* address, std::uint16_t port) {
  resolve_request request;
  request.reverse = true;
  request.endpoint = {ip::make_address(address), port};
  return request;
}

std::vector<std::string> endpoints(const resolve_answer& answer) {
  EXPECT_FALSE(answer.ec) << answer.ec.message();
  std::vector<std::string> result;
  for (const auto& endpoint : answer.endpoints)
    result.push_back(endpoint.to_string());
  return result;
}

/// Options that reach nothing: what works with them is answered without a name server.
resolver_options nowhere() {
  resolver_options options;
  options.servers = "127.0.0.1:1";
  options.tries = 1;
  return options;
}

class dns : public testing::Test {
 protected:
  resolver_options options(std::string lookups = "b") const {
    resolver_options result;
    result.servers = server.address();
    result.lookups = std::move(lookups);
    return result;
  }
  resolve_answer ask(resolve_request request) const {
    return resolve_now(std::move(request), options());
  }

  weft_test::fake_dns_server server{{
      {"both.example.test", {.v4 = {"192.0.2.1", "192.0.2.2"}, .v6 = {"2001:db8::1"}}},
      {"four.example.test", {.v4 = {"192.0.2.4"}}},
      {"six.example.test", {.v6 = {"2001:db8::6"}}},
      {"none.example.test", {}},
      {"alias.example.test", {.v4 = {"192.0.2.9"}, .alias_of = "real.example.test"}},
      {"broken.example.test", {.rcode = 2}},
      {"dead.example.test", {.silent = true}},
      {"long.example.test", {.v4 = {"192.0.2.3"}, .too_long = true}},
      {"1.2.0.192.in-addr.arpa", {.pointer = "ptr.example.test"}},
      {"1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
       {.pointer = "ptr6.example.test"}},
  }};
};

TEST(resolve_now, numeric_host_and_service_need_no_server) {
  EXPECT_THAT(endpoints(resolve_now(forward("192.0.2.7", "80"), nowhere())),
              ElementsAre("192.0.2.7:80"));
  EXPECT_THAT(endpoints(resolve_now(forward("2001:db8::1", "65535"), nowhere())),
              ElementsAre("[2001:db8::1]:65535"));
  EXPECT_THAT(endpoints(resolve_now(forward("fe80::1%4000000000", "1"), nowhere())),
              ElementsAre("[fe80::1%4000000000]:1"));
  const auto answer =
      resolve_now(forward("192.0.2.7", "80", os::af_inet,
                          flag::numeric_host | flag::numeric_service | flag::address_configured),
                  nowhere());
  EXPECT_THAT(endpoints(answer), ElementsAre("192.0.2.7:80"));
  EXPECT_EQ(answer.host_name, "192.0.2.7");
  EXPECT_EQ(answer.service_name, "80");
}

TEST(resolve_now, numeric_host_of_the_other_version_is_not_found_unless_mapped) {
  EXPECT_EQ(resolve_now(forward("192.0.2.7", "80", os::af_inet6), nowhere()).ec,
            weft::error::host_not_found);
  EXPECT_EQ(resolve_now(forward("::1", "80", os::af_inet), nowhere()).ec,
            weft::error::host_not_found);
  EXPECT_THAT(
      endpoints(resolve_now(forward("192.0.2.7", "80", os::af_inet6, flag::v4_mapped), nowhere())),
      ElementsAre("[::ffff:192.0.2.7]:80"));
}

TEST(resolve_now, numeric_flags_refuse_names) {
  EXPECT_EQ(
      resolve_now(forward("localhost", "80", os::af_unspec, flag::numeric_host), nowhere()).ec,
      weft::error::host_not_found);
  EXPECT_EQ(
      resolve_now(forward("127.0.0.1", "http", os::af_unspec, flag::numeric_service), nowhere()).ec,
      weft::error::host_not_found);
}

TEST(resolve_now, empty_host_is_loopback_or_with_passive_any) {
  EXPECT_THAT(endpoints(resolve_now(forward("", "80"), nowhere())),
              ElementsAre("[::1]:80", "127.0.0.1:80"));
  EXPECT_THAT(endpoints(resolve_now(forward("", "80", os::af_unspec, flag::passive), nowhere())),
              ElementsAre("0.0.0.0:80", "[::]:80"));
  EXPECT_THAT(endpoints(resolve_now(forward("", "80", os::af_inet6, flag::passive), nowhere())),
              ElementsAre("[::]:80"));
  EXPECT_THAT(endpoints(resolve_now(forward("", "80", os::af_inet), nowhere())),
              ElementsAre("127.0.0.1:80"));
}

TEST(resolve_now, empty_service_is_port_0) {
  EXPECT_THAT(endpoints(resolve_now(forward("127.0.0.1", ""), nowhere())),
              ElementsAre("127.0.0.1:0"));
}

TEST(resolve_now, unknown_service_is_service_not_found) {
  for (const char* service : {"no-such-service", "65536", "-1", "80 "})
    EXPECT_EQ(resolve_now(forward("127.0.0.1", service), nowhere()).ec,
              weft::error::service_not_found)
        << service;
  resolve_request raw = forward("127.0.0.1", "http");
  raw.socket_type = os::sock_raw;
  EXPECT_EQ(resolve_now(raw, nowhere()).ec, weft::error::service_not_found);
}

TEST(resolve_now, scope_that_names_no_interface_is_no_such_device) {
  EXPECT_EQ(resolve_now(forward("fe80::1%nosuchif", "80"), nowhere()).ec,
            weft::error::no_such_device);
}

TEST(resolve_now, text_that_can_be_no_host_is_not_found_without_a_question) {
  for (const std::string& host :
       {std::string(256, 'a'), std::string("a\0b", 3), std::string("1:2"), std::string("[::1]")})
    EXPECT_EQ(resolve_now(forward(host, "80"), nowhere()).ec, weft::error::host_not_found) << host;
}

TEST(resolve_now, localhost_comes_from_the_hosts_file_without_a_server) {
  resolver_options options = nowhere();
  options.lookups = "f";
  const auto answer = resolve_now(forward("localhost", "80", os::af_inet), options);
  EXPECT_THAT(endpoints(answer), ElementsAre("127.0.0.1:80"));
  EXPECT_EQ(answer.host_name, "localhost");
}

TEST(resolve_now, server_list_that_makes_no_sense_is_an_error) {
  resolver_options options;
  options.servers = "not an address";
  EXPECT_TRUE(resolve_now(forward("a.example.test", "80"), options).ec);
}

TEST(resolve_now, server_that_is_not_there_is_try_again) {
  const weft_test::refusing_dns_server server;
  resolver_options options;
  options.lookups = "b";
  options.servers = server.address();
  EXPECT_EQ(resolve_now(forward("a.example.test", "80"), options).ec,
            weft::error::host_not_found_try_again);
}

TEST_F(dns, name_leads_to_the_addresses_of_both_versions) {
  EXPECT_THAT(endpoints(ask(forward("both.example.test", "80"))),
              UnorderedElementsAre("192.0.2.1:80", "192.0.2.2:80", "[2001:db8::1]:80"));
}

TEST_F(dns, family_limits_the_answer) {
  EXPECT_THAT(endpoints(ask(forward("both.example.test", "1", os::af_inet))),
              UnorderedElementsAre("192.0.2.1:1", "192.0.2.2:1"));
  EXPECT_THAT(endpoints(ask(forward("both.example.test", "1", os::af_inet6))),
              ElementsAre("[2001:db8::1]:1"));
  EXPECT_EQ(ask(forward("four.example.test", "1", os::af_inet6)).ec, weft::error::no_data);
}

TEST_F(dns, mapped_addresses_come_when_there_is_no_v6_or_all_are_wanted) {
  EXPECT_THAT(endpoints(ask(forward("four.example.test", "1", os::af_inet6, flag::v4_mapped))),
              ElementsAre("[::ffff:192.0.2.4]:1"));
  EXPECT_THAT(endpoints(ask(forward("both.example.test", "1", os::af_inet6, flag::v4_mapped))),
              ElementsAre("[2001:db8::1]:1"));
  const auto all = endpoints(
      ask(forward("both.example.test", "1", os::af_inet6, flag::v4_mapped | flag::all_matching)));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all.front(), "[2001:db8::1]:1");
  EXPECT_THAT(
      all, UnorderedElementsAre("[2001:db8::1]:1", "[::ffff:192.0.2.1]:1", "[::ffff:192.0.2.2]:1"));
}

TEST_F(dns, address_configured_asks_only_for_versions_that_the_system_has) {
  const auto has = weft::detail::configured_families();
  const auto answer =
      ask(forward("both.example.test", "1", os::af_unspec, flag::address_configured));
  bool v4 = false, v6 = false;
  for (const auto& endpoint : answer.endpoints)
    (endpoint.is_v4() ? v4 : v6) = true;
  EXPECT_EQ(v4, has.v4 || !has.v6);
  EXPECT_EQ(v6, has.v6 || !has.v4);
}

TEST_F(dns, host_name_is_the_one_asked_for_unless_the_canonical_one_is_wanted) {
  const auto plain = ask(forward("alias.example.test", "1", os::af_inet));
  EXPECT_THAT(endpoints(plain), ElementsAre("192.0.2.9:1"));
  EXPECT_EQ(plain.host_name, "alias.example.test");
  const auto canonical = ask(forward("alias.example.test", "1", os::af_inet, flag::canonical_name));
  EXPECT_THAT(endpoints(canonical), ElementsAre("192.0.2.9:1"));
  EXPECT_EQ(canonical.host_name, "real.example.test");
}

TEST_F(dns, failures_are_told_apart) {
  EXPECT_EQ(ask(forward("missing.example.test", "1", os::af_inet)).ec, weft::error::host_not_found);
  EXPECT_EQ(ask(forward("missing.example.test", "1")).ec, weft::error::host_not_found);
  EXPECT_EQ(ask(forward("none.example.test", "1", os::af_inet)).ec, weft::error::no_data);
  EXPECT_EQ(ask(forward("broken.example.test", "1", os::af_inet)).ec,
            weft::error::host_not_found_try_again);
}

TEST_F(dns, answer_that_is_too_long_for_a_datagram_comes_by_tcp) {
  EXPECT_THAT(endpoints(ask(forward("long.example.test", "1", os::af_inet))),
              ElementsAre("192.0.2.3:1"));
}

TEST_F(dns, silent_server_is_try_again_after_the_timeout) {
  resolver_options quick = options();
  quick.timeout = 10ms;
  quick.tries = 1;
  EXPECT_EQ(resolve_now(forward("dead.example.test", "1", os::af_inet), quick).ec,
            weft::error::host_not_found_try_again);
}

TEST_F(dns, service_names_come_from_the_services_file) {
  EXPECT_THAT(endpoints(ask(forward("four.example.test", "http", os::af_inet))),
              ElementsAre("192.0.2.4:80"));
}

TEST_F(dns, address_leads_back_to_names) {
  const auto v4 = ask(reverse("192.0.2.1", 80));
  EXPECT_THAT(endpoints(v4), ElementsAre("192.0.2.1:80"));
  EXPECT_EQ(v4.host_name, "ptr.example.test");
  EXPECT_EQ(v4.service_name, "http");
  EXPECT_EQ(ask(reverse("2001:db8::1", 80)).host_name, "ptr6.example.test");
}

TEST_F(dns, address_without_a_name_is_written_as_a_number) {
  const auto answer = ask(reverse("192.0.2.200", 1));
  EXPECT_FALSE(answer.ec);
  EXPECT_EQ(answer.host_name, "192.0.2.200");
  EXPECT_THAT(endpoints(answer), ElementsAre("192.0.2.200:1"));
}

TEST_F(dns, hosts_file_is_asked_before_the_server) {
  EXPECT_THAT(endpoints(resolve_now(forward("localhost", "1", os::af_inet), options("fb"))),
              ElementsAre("127.0.0.1:1"));
  EXPECT_EQ(server.questions(), 0);
}

}  // namespace
