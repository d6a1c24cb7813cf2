// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <weft/base/error_code.hpp>
#include <weft/base/socket_constants.hpp>
#include <weft/net/endpoint_storage.hpp>
#include <weft/net/resolver_base.hpp>

namespace WEFT_NAMESPACE::detail {

/// What to resolve, whatever the protocol: names to endpoints or, if `reverse`, `endpoint` to
/// names.
struct resolve_request {
  bool reverse = false;
  int family = os::af_unspec;  ///< af_inet, af_inet6, or both.
  int socket_type = os::sock_stream;
  ip::resolver_base::flags flags{};
  std::string host;
  std::string service;
  ip_endpoint endpoint;
};

/// What was found. Successful forward resolution has at least one endpoint; reverse has one.
struct resolve_answer {
  error_code ec;
  std::vector<ip_endpoint> endpoints;
  std::string host_name;
  std::string service_name;
};

}  // namespace WEFT_NAMESPACE::detail
