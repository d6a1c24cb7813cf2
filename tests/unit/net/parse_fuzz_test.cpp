// SPDX-License-Identifier: BSL-1.0
// Random damage to text that the parsers accept: whatever comes in, they either refuse it with a
// reason, or understand something that they write and read back alike.
#include <array>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <weft/base/error.hpp>
#include <weft/net/address.hpp>
#include <weft/net/network_v4.hpp>
#include <weft/net/network_v6.hpp>

#include "net/resolver/service_names.hpp"

namespace {

namespace ip = weft::ip;
using weft::error_code;

class damage {
 public:
  std::string operator()(std::string text) {
    static constexpr std::string_view alphabet("0123456789abcdefABCDEF:.%/ -+xg\0\n\xFF", 35);
    for (unsigned n = random() % 4; n > 0; --n) {
      const std::size_t at = random() % (text.size() + 1);
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 4) {
        case 0: text.insert(at, 1, c); break;
        case 1: text.erase(at, 1 + random() % 3); break;
        case 2: text.insert(at, text.substr(random() % (text.size() + 1), random() % 20)); break;
        default:
          if (at < text.size())
            text[at] = c;
      }
    }
    return text;
  }
  std::uint32_t random() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_{20240229};
};

void expect_reason(const error_code& ec, const std::string& text) {
  EXPECT_TRUE(ec == weft::error::invalid_argument || ec == weft::error::no_such_device) << text;
}

constexpr std::array<const char*, 10> seeds{
    "127.0.0.1", "255.255.255.255",     "::",         "2001:db8::1/32", "fe80::1%lo",
    "::1%42",    "1:2:3:4:5:6:7:8/128", "10.0.0.0/8", "::ffff:1.2.3.4", "0.0.0.0/0"};

TEST(parse_fuzz, addresses_are_refused_or_read_back_alike) {
  damage damaged;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = damaged(seeds[damaged.random() % seeds.size()]);
    error_code ec;
    const ip::address address = ip::make_address(text, ec);
    if (ec)
      expect_reason(ec, text);
    else
      EXPECT_EQ(ip::make_address(address.to_string()), address) << text;
  }
}

TEST(parse_fuzz, networks_are_refused_or_read_back_alike) {
  damage damaged;
  for (int i = 0; i < 50'000; ++i) {
    const std::string text = damaged(seeds[damaged.random() % seeds.size()]);
    error_code ec4, ec6;
    const ip::network_v4 v4 = ip::make_network_v4(text, ec4);
    const ip::network_v6 v6 = ip::make_network_v6(text, ec6);
    EXPECT_TRUE(ec4 || ec6) << text;
    if (ec4)
      expect_reason(ec4, text);
    else
      EXPECT_EQ(ip::make_network_v4(v4.to_string()), v4) << text;
    if (ec6)
      expect_reason(ec6, text);
    else
      EXPECT_EQ(ip::make_network_v6(v6.to_string()), v6) << text;
  }
}

TEST(parse_fuzz, services_file_may_hold_anything) {
  damage damaged;
  for (int i = 0; i < 10'000; ++i) {
    std::istringstream file(damaged("http 80/tcp www # web\ndomain 53/udp\n"));
    if (const auto port = weft::detail::find_service_port(file, "domain", "udp")) {
      file.clear();
      file.seekg(0);
      EXPECT_TRUE(weft::detail::find_service_name(file, *port, "udp")) << file.str();
    }
  }
}

}  // namespace
