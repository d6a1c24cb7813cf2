// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/dns_lookup.hpp"

#include <cstring>
#include <new>
#include <utility>

#include <ares.h>
#include <netdb.h>
#include <netinet/in.h>

#include <weft/base/error.hpp>

#include "net/resolver/address_families.hpp"
#include "net/resolver/service_names.hpp"

namespace WEFT_NAMESPACE::detail {
namespace {

using base = ip::resolver_base;

error_code ares_error(int status) noexcept {
  switch (status) {
    case ARES_SUCCESS: return {};
    case ARES_ENODATA: return error::no_data;
    case ARES_ENOTFOUND:
    case ARES_ENONAME:
    case ARES_EBADNAME: return error::host_not_found;
    case ARES_ESERVFAIL:
    case ARES_ETIMEOUT:
    case ARES_ECONNREFUSED: return error::host_not_found_try_again;
    case ARES_ENOMEM: return error::no_memory;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION: return error::operation_aborted;
    default: return error::no_recovery;
  }
}

/// The address in a socket address that c-ares filled, or an unspecified one for another family.
ip::address address_in(const sockaddr* native, std::size_t size) noexcept {
  ip_endpoint endpoint;
  if (native != nullptr && size <= endpoint.capacity())
    std::memcpy(endpoint.data(), native, size);
  return endpoint.address();
}

/// Text that can be a host name; what cannot is not worth a question, nor does c-ares take it.
bool is_plausible_name(std::string_view host) noexcept {
  constexpr std::size_t longest_name = 255;
  return host.size() <= longest_name && host.find('\0') == std::string_view::npos &&
         host.find(':') == std::string_view::npos;
}

}  // namespace

bool dns_lookup::refuse(error_code ec) {
  answer.ec = ec;
  return true;
}

bool dns_lookup::prepare() {
  if (request_.reverse) {
    const ip_endpoint& endpoint = request_.endpoint;
    answer.endpoints.assign(1, endpoint);
    answer.service_name = service_name(endpoint.port(), request_.socket_type)
                              .value_or(std::to_string(endpoint.port()));
    return false;
  }
  answer.host_name = request_.host;
  answer.service_name = request_.service;
  if (!find_port())
    return has_flag(base::numeric_service) ? refuse(error::host_not_found)
                                           : refuse(error::service_not_found);

  error_code ec;
  const ip::address numeric = ip::make_address(request_.host, ec);
  if (!ec)
    return add_numeric_host(numeric) || refuse(error::host_not_found);
  if (ec == error::no_such_device)
    return refuse(ec);
  if (!narrow_family())
    return refuse(error::host_not_found);
  if (request_.host.empty()) {
    add_wildcards();
    return true;
  }
  if (has_flag(base::numeric_host) || !is_plausible_name(request_.host))
    return refuse(error::host_not_found);
  return false;
}

bool dns_lookup::find_port() {
  if (request_.service.empty())
    return true;
  auto port = parse_port(request_.service);
  if (!port && !has_flag(base::numeric_service))
    port = service_port(request_.service, request_.socket_type);
  port_ = port.value_or(0);
  return port.has_value();
}

bool dns_lookup::narrow_family() {
  if (!has_flag(base::address_configured))
    return true;
  const address_families configured = configured_families();
  if (configured.v4 == configured.v6)
    return true;
  const int only = configured.v4 ? os::af_inet : os::af_inet6;
  if (request_.family == os::af_unspec)
    request_.family = only;
  return request_.family == only || has_flag(base::v4_mapped);
}

void dns_lookup::add(const ip::address& address) {
  answer.endpoints.emplace_back(address, port_);
}

void dns_lookup::add_wildcards() {
  // Listening on the IPv4 address works on every system, so it comes first; a client tries IPv6
  // first, as RFC 6724 orders the loopback addresses.
  const bool passive = has_flag(base::passive);
  const bool v4 = request_.family != os::af_inet6;
  const bool v6 = request_.family != os::af_inet;
  if (passive && v4)
    add(ip::address_v4::any());
  if (v6)
    add(passive ? ip::address_v6::any() : ip::address_v6::loopback());
  if (!passive && v4)
    add(ip::address_v4::loopback());
}

bool dns_lookup::add_numeric_host(const ip::address& address) {
  const int family = address.is_v4() ? os::af_inet : os::af_inet6;
  if (request_.family == os::af_unspec || request_.family == family)
    add(address);
  else if (address.is_v4() && has_flag(base::v4_mapped))
    add(ip::make_address_v6(ip::v4_mapped, address.to_v4()));
  return !answer.endpoints.empty();
}

void dns_lookup::start(const dns_channel& channel, function finished) noexcept {
  channel_ = &channel;
  finished_ = finished;
  if (request_.reverse) {
    const ip::address address = request_.endpoint.address();
    if (address.is_v4()) {
      const auto bytes = address.to_v4().to_bytes();
      ::ares_gethostbyaddr(channel.get(), bytes.data(), bytes.size(), AF_INET, &on_name, this);
    } else {
      const auto bytes = address.to_v6().to_bytes();
      ::ares_gethostbyaddr(channel.get(), bytes.data(), bytes.size(), AF_INET6, &on_name, this);
    }
    return;
  }
  const bool both = request_.family == os::af_inet6 && has_flag(base::v4_mapped);
  ares_addrinfo_hints hints{};
  hints.ai_flags = has_flag(base::canonical_name) ? ARES_AI_CANONNAME : 0;
  hints.ai_family = both ? AF_UNSPEC : request_.family;
  hints.ai_socktype = request_.socket_type;
  ::ares_getaddrinfo(channel.get(), request_.host.c_str(), nullptr, &hints, &on_addresses, this);
}

error_code dns_lookup::error_of(int status) const noexcept {
  // What c-ares calls refused includes that there was no socket to ask with.
  if (status == ARES_ECONNREFUSED && channel_->socket_error())
    return channel_->socket_error();
  return ares_error(status);
}

void dns_lookup::on_addresses(void* pointer, int status, int, ares_addrinfo* found) {
  auto& self = *static_cast<dns_lookup*>(pointer);
  self.answer.ec = self.error_of(status);
  if (found != nullptr) {
    try {
      self.take_addresses(*found);
    } catch (const std::bad_alloc&) {
      self.answer.ec = error::no_memory;
    }
    ::ares_freeaddrinfo(found);
  }
  if (!self.answer.ec && self.answer.endpoints.empty())
    self.answer.ec = error::no_data;
  self.finished_(self);
}

void dns_lookup::take_addresses(const ares_addrinfo& found) {
  std::vector<ip::address> mapped;
  for (const auto* node = found.nodes; node != nullptr; node = node->ai_next) {
    if (node->ai_family != AF_INET && node->ai_family != AF_INET6)
      continue;
    const ip::address address = address_in(node->ai_addr, node->ai_addrlen);
    if (request_.family == os::af_inet6 && address.is_v4())
      mapped.push_back(ip::make_address_v6(ip::v4_mapped, address.to_v4()));
    else
      add(address);
  }
  if (answer.endpoints.empty() || has_flag(base::all_matching))
    for (const ip::address& address : mapped)
      add(address);

  if (!has_flag(base::canonical_name))
    return;
  if (found.name != nullptr)
    answer.host_name = found.name;
  for (const auto* alias = found.cnames; alias != nullptr; alias = alias->next)
    if (alias->name != nullptr)
      answer.host_name = alias->name;
}

void dns_lookup::on_name(void* pointer, int status, int, hostent* found) {
  auto& self = *static_cast<dns_lookup*>(pointer);
  resolve_answer& answer = self.answer;
  try {
    if (status == ARES_SUCCESS && found != nullptr && found->h_name != nullptr)
      answer.host_name = found->h_name;
    else if (status == ARES_SUCCESS || status == ARES_ENOTFOUND || status == ARES_ENODATA)
      answer.host_name = answer.endpoints.front().address().to_string();
    else
      answer.ec = self.error_of(status);
  } catch (const std::bad_alloc&) {
    answer.ec = error::no_memory;
  }
  self.finished_(self);
}

}  // namespace WEFT_NAMESPACE::detail
