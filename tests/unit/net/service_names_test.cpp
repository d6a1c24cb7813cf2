// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/service_names.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include <weft/base/socket_constants.hpp>

namespace {

namespace detail = weft::detail;

const char* const services = R"(# a comment
http   80/tcp  www web  # the web
http   80/udp

domain 53/tcp
domain 53/udp  # names
broken
worse  99999/tcp
odd    12
)";

auto port_of(const std::string& name, const std::string& protocol) {
  std::istringstream file(services);
  return detail::find_service_port(file, name, protocol);
}

auto name_of(std::uint16_t port, const std::string& protocol) {
  std::istringstream file(services);
  return detail::find_service_name(file, port, protocol);
}

TEST(service_names, name_and_alias_lead_to_the_port) {
  EXPECT_EQ(port_of("http", "tcp"), 80);
  EXPECT_EQ(port_of("web", "tcp"), 80);
  EXPECT_EQ(port_of("domain", "udp"), 53);
}

TEST(service_names, protocol_is_told_apart) {
  EXPECT_EQ(port_of("http", "udp"), 80);
  EXPECT_FALSE(port_of("web", "udp"));
  EXPECT_FALSE(port_of("http", ""));
}

TEST(service_names, unknown_and_broken_lines_are_not_found) {
  EXPECT_FALSE(port_of("ftp", "tcp"));
  EXPECT_FALSE(port_of("broken", "tcp"));
  EXPECT_FALSE(port_of("worse", "tcp"));
  EXPECT_FALSE(port_of("odd", "tcp"));
  EXPECT_FALSE(port_of("the", "tcp"));
  EXPECT_FALSE(port_of("", "tcp"));
}

TEST(service_names, port_leads_to_the_official_name) {
  EXPECT_EQ(name_of(80, "tcp"), "http");
  EXPECT_EQ(name_of(53, "udp"), "domain");
  EXPECT_FALSE(name_of(81, "tcp"));
}

TEST(service_names, raw_sockets_have_no_services) {
  EXPECT_FALSE(detail::service_port("http", detail::os::sock_raw));
}

TEST(service_names, port_numbers_are_plain_and_in_range) {
  EXPECT_EQ(detail::parse_port("0"), 0);
  EXPECT_EQ(detail::parse_port("65535"), 65535);
  for (const char* text : {"", "65536", "-1", "+1", " 1", "1 ", "0x1", "1a"})
    EXPECT_FALSE(detail::parse_port(text)) << text;
}

}  // namespace
