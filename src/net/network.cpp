// SPDX-License-Identifier: BSL-1.0
#include <bit>
#include <charconv>
#include <stdexcept>

#include <weft/base/error.hpp>
#include <weft/net/network_v4.hpp>
#include <weft/net/network_v6.hpp>

namespace WEFT_NAMESPACE::ip {
namespace {

struct network_text {
  std::string_view address;
  unsigned short prefix_length = 0;
};

/// Splits "address/prefix length"; `ec` is set unless the prefix length is a plain decimal number
/// of at most `max_length`.
network_text split(std::string_view text, unsigned short max_length, error_code& ec) noexcept {
  const std::size_t slash = text.find('/');
  network_text result{text.substr(0, slash)};
  const char* const end = text.data() + text.size();
  const char* const digits = slash == std::string_view::npos ? end : text.data() + slash + 1;
  const auto [parsed, status] = std::from_chars(digits, end, result.prefix_length);
  if (status != std::errc() || parsed != end || result.prefix_length > max_length)
    ec = error::invalid_argument;
  else
    ec.clear();
  return result;
}

}  // namespace

network_v4::network_v4(const address_v4& address, unsigned short prefix_length)
    : address_(address), prefix_length_(prefix_length) {
  if (prefix_length > 32)
    throw std::out_of_range("network_v4: prefix length above 32");
}

network_v4::network_v4(const address_v4& address, const address_v4& mask)
    : address_(address),
      prefix_length_(static_cast<unsigned short>(std::countl_one(mask.to_uint()))) {
  if (netmask() != mask)
    throw std::invalid_argument("network_v4: the one bits of the netmask are not contiguous");
}

std::string network_v4::to_string() const {
  return address_.to_string() + '/' + std::to_string(prefix_length_);
}

network_v4 make_network_v4(std::string_view text, error_code& ec) noexcept {
  const network_text parts = split(text, 32, ec);
  if (ec)
    return {};
  const address_v4 address = make_address_v4(parts.address, ec);
  return ec ? network_v4() : network_v4(address, parts.prefix_length);
}

network_v4 make_network_v4(std::string_view text) {
  error_code ec;
  const network_v4 network = make_network_v4(text, ec);
  detail::throw_if(ec, "make_network_v4");
  return network;
}

network_v6::network_v6(const address_v6& address, unsigned short prefix_length)
    : address_(address), prefix_length_(prefix_length) {
  if (prefix_length > 128)
    throw std::out_of_range("network_v6: prefix length above 128");
}

address_v6 network_v6::network() const noexcept {
  address_v6::bytes_type bytes = address_.to_bytes();
  for (unsigned bit = prefix_length_; bit < 128; ++bit)
    bytes[bit / 8] &= static_cast<unsigned char>(~(0x80u >> bit % 8));
  return address_v6(bytes, address_.scope_id());
}

address_v6_range network_v6::hosts() const noexcept {
  address_v6::bytes_type last = address_.to_bytes();
  for (unsigned bit = prefix_length_; bit < 128; ++bit)
    last[bit / 8] |= static_cast<unsigned char>(0x80u >> bit % 8);
  address_v6_iterator end(address_v6(last, address_.scope_id()));
  if (prefix_length_ != 0)
    ++end;
  return {network(), end};
}

std::string network_v6::to_string() const {
  return address_.to_string() + '/' + std::to_string(prefix_length_);
}

network_v6 make_network_v6(std::string_view text, error_code& ec) noexcept {
  const network_text parts = split(text, 128, ec);
  if (ec)
    return {};
  const address_v6 address = make_address_v6(parts.address, ec);
  return ec ? network_v6() : network_v6(address, parts.prefix_length);
}

network_v6 make_network_v6(std::string_view text) {
  error_code ec;
  const network_v6 network = make_network_v6(text, ec);
  detail::throw_if(ec, "make_network_v6");
  return network;
}

}  // namespace WEFT_NAMESPACE::ip
