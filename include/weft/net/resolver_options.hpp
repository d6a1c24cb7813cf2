// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <chrono>
#include <string>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

class execution_context;

namespace ip {

/// How the resolvers of a context look names up. What is left empty or zero is taken from
/// /etc/resolv.conf and /etc/nsswitch.conf.
struct resolver_options {
  /// The name servers, in the order in which they are asked: "address:port" or "address", with
  /// commas between; an IPv6 address with a port stands in brackets. "127.0.0.1:5353,[::1]:53"
  std::string servers;
  /// What is asked, in order: 'f' for /etc/hosts, 'b' for the name servers. "fb"
  std::string lookups;
  /// How long the first attempt waits for a server; each further attempt waits longer.
  std::chrono::milliseconds timeout{0};
  /// How often each server is asked.
  int tries = 0;
};

/// Sets the options of all resolvers of `context`: blocking calls that begin from now on, and
/// asynchronous lookups from the next that starts while none is pending. Options that make no sense
/// make those fail with invalid_argument. Throws bad_alloc. Any thread.
///
///     ip::set_resolver_options(context, {.servers = "127.0.0.1:5353"});
WEFT_API void set_resolver_options(execution_context& context, const resolver_options& options);

}  // namespace ip
}  // namespace WEFT_NAMESPACE
