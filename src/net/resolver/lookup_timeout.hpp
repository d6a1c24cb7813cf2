// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/timer_core.hpp>

namespace WEFT_NAMESPACE::detail {

class resolver_service;

/// A wait until c-ares has to act on a timeout, of which the service is then told.
class lookup_timeout final : public wait_operation {
 public:
  /// Starts a wait on `timer`. Throws bad_alloc.
  static void start(timer_state& timer, resolver_service& service);

  lookup_timeout(const timer_state& timer, resolver_service& service) noexcept
      : wait_operation(&complete, timer), service_(service) {}

 private:
  static void complete(operation* base, action what);

  resolver_service& service_;
};

}  // namespace WEFT_NAMESPACE::detail
