// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>

#include <weft/net/fwd.hpp>

namespace WEFT_NAMESPACE::ip {

/// One result of a name resolution: an endpoint with the names it stands for.
/// Distinct objects may be used from different threads.
template <class InternetProtocol>
class basic_resolver_entry {
 public:
  using protocol_type = InternetProtocol;
  using endpoint_type = typename InternetProtocol::endpoint;

  basic_resolver_entry() = default;
  basic_resolver_entry(const endpoint_type& endpoint, std::string_view host,
                       std::string_view service)
      : endpoint_(endpoint), host_name_(host), service_name_(service) {}

  endpoint_type endpoint() const { return endpoint_; }
  operator endpoint_type() const { return endpoint_; }

  /// The host that was asked for, its canonical name if resolver_base::canonical_name was given,
  /// or, after a reverse resolution, the name that was found.
  std::string host_name() const { return host_name_; }
  template <class Allocator>
  std::basic_string<char, std::char_traits<char>, Allocator> host_name(
      const Allocator& allocator = Allocator()) const {
    return {host_name_.data(), host_name_.size(), allocator};
  }

  /// The service that was asked for, or, after a reverse resolution, the name that was found.
  std::string service_name() const { return service_name_; }
  template <class Allocator>
  std::basic_string<char, std::char_traits<char>, Allocator> service_name(
      const Allocator& allocator = Allocator()) const {
    return {service_name_.data(), service_name_.size(), allocator};
  }

 private:
  endpoint_type endpoint_;
  std::string host_name_;
  std::string service_name_;
};

}  // namespace WEFT_NAMESPACE::ip
