// SPDX-License-Identifier: BSL-1.0
#include <weft/net/address.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>
#include <net/if.h>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::ip {
namespace {

/// A NUL-terminated copy for the C interfaces; empty if the text is too long or has a NUL in it,
/// either of which makes it no address.
template <std::size_t Capacity>
struct c_string {
  explicit c_string(std::string_view text) noexcept {
    if (text.size() < Capacity && text.find('\0') == std::string_view::npos)
      std::copy(text.begin(), text.end(), chars);
  }
  char chars[Capacity] = {};
};

/// Parses `text` for `family` into `bytes`.
bool parse(int family, std::string_view text, unsigned char* bytes) noexcept {
  return inet_pton(family, c_string<INET6_ADDRSTRLEN>(text).chars, bytes) == 1;
}

scope_id_type parse_scope(std::string_view text, error_code& ec) noexcept {
  scope_id_type id = 0;
  if (text.empty())
    return id;
  const auto [end, parse_error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (end == text.data() + text.size()) {
    if (parse_error != std::errc())
      ec = error::invalid_argument;
    return id;
  }
  id = if_nametoindex(c_string<IF_NAMESIZE>(text).chars);
  if (id == 0)
    ec = error::no_such_device;
  return id;
}

}  // namespace

bad_address_cast::~bad_address_cast() noexcept = default;

const char* bad_address_cast::what() const noexcept {
  return "bad address cast";
}

void address::throw_bad_cast() {
  throw bad_address_cast();
}

std::string address_v4::to_string() const {
  char text[INET_ADDRSTRLEN];
  const bytes_type bytes = to_bytes();
  return inet_ntop(AF_INET, bytes.data(), text, sizeof(text));
}

address_v4 make_address_v4(std::string_view text, error_code& ec) noexcept {
  address_v4::bytes_type bytes;
  if (!parse(AF_INET, text, bytes.data())) {
    ec = error::invalid_argument;
    return {};
  }
  ec.clear();
  return address_v4(bytes);
}

address_v4 make_address_v4(std::string_view text) {
  error_code ec;
  const address_v4 address = make_address_v4(text, ec);
  detail::throw_if(ec, "make_address_v4");
  return address;
}

address_v4 make_address_v4(v4_mapped_t, const address_v6& address) {
  if (!address.is_v4_mapped())
    throw bad_address_cast();
  const address_v6::bytes_type bytes = address.to_bytes();
  return address_v4(address_v4::bytes_type{bytes[12], bytes[13], bytes[14], bytes[15]});
}

std::string address_v6::to_string() const {
  char text[INET6_ADDRSTRLEN];
  std::string result = inet_ntop(AF_INET6, bytes_.data(), text, sizeof(text));
  if (scope_id_ != 0) {
    char name[IF_NAMESIZE];
    result += '%';
    if ((is_link_local() || is_multicast_link_local()) &&
        if_indextoname(scope_id_, name) != nullptr)
      result += name;
    else
      result += std::to_string(scope_id_);
  }
  return result;
}

address_v6 make_address_v6(std::string_view text, error_code& ec) noexcept {
  ec.clear();
  const std::size_t percent = text.find('%');
  address_v6::bytes_type bytes;
  if (!parse(AF_INET6, text.substr(0, percent), bytes.data())) {
    ec = error::invalid_argument;
    return {};
  }
  scope_id_type scope_id = 0;
  if (percent != std::string_view::npos)
    scope_id = parse_scope(text.substr(percent + 1), ec);
  return ec ? address_v6() : address_v6(bytes, scope_id);
}

address_v6 make_address_v6(std::string_view text) {
  error_code ec;
  const address_v6 address = make_address_v6(text, ec);
  detail::throw_if(ec, "make_address_v6");
  return address;
}

address make_address(std::string_view text, error_code& ec) noexcept {
  if (text.find(':') != std::string_view::npos) {
    const address_v6 v6 = make_address_v6(text, ec);
    return ec ? address() : address(v6);
  }
  return make_address_v4(text, ec);
}

address make_address(std::string_view text) {
  error_code ec;
  const address result = make_address(text, ec);
  detail::throw_if(ec, "make_address");
  return result;
}

}  // namespace WEFT_NAMESPACE::ip
