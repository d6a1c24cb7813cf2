// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>
#include <string>

#include <weft/net/resolve_request.hpp>

#include "net/resolver/dns_channel.hpp"

struct ares_addrinfo;
struct hostent;

namespace WEFT_NAMESPACE::detail {

/// One resolution, from the request to the answer: what can be answered here is answered by
/// `prepare`, the rest by `start` on a c-ares channel.
///
/// `finished` is called exactly once for each `start`, perhaps within it, and else within a call of
/// c-ares on the channel (its destruction included: then with operation_aborted). It may delete the
/// lookup. Not thread-safe: whoever owns the channel serialises.
class dns_lookup {
 public:
  using function = void (*)(dns_lookup&);

  explicit dns_lookup(resolve_request request) noexcept : request_(std::move(request)) {}
  dns_lookup(const dns_lookup&) = delete;
  dns_lookup& operator=(const dns_lookup&) = delete;

  /// True if the answer is complete: numeric or empty hosts, and all that is refused. May read
  /// /etc/services and ask the kernel for its interfaces; sends nothing.
  bool prepare();

  /// Asks /etc/hosts and the name servers, in the order the system is configured for.
  /// Precondition: `prepare` returned false.
  void start(const dns_channel& channel, function finished) noexcept;

  resolve_answer answer;

 private:
  bool refuse(error_code ec);
  bool find_port();
  bool narrow_family();
  void add(const ip::address& address);
  void add_wildcards();
  bool add_numeric_host(const ip::address& address);
  bool has_flag(ip::resolver_base::flags flag) const noexcept {
    return (request_.flags & flag) != 0;
  }

  static void on_addresses(void* self, int status, int timeouts, ares_addrinfo* found);
  static void on_name(void* self, int status, int timeouts, hostent* found);
  error_code error_of(int status) const noexcept;
  void take_addresses(const ares_addrinfo& found);

  resolve_request request_;
  std::uint16_t port_ = 0;
  const dns_channel* channel_ = nullptr;
  function finished_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
