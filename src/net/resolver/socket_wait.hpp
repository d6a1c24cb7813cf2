// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/io/io_handle.hpp>

namespace WEFT_NAMESPACE::detail {

class resolver_service;

/// A wait until a socket of c-ares is ready, of which the service is then told.
class socket_wait final : public io_operation {
 public:
  /// Starts a wait on `handle`, which serves the socket with that serial number. Throws bad_alloc.
  static void start(io_handle& handle, resolver_service& service, std::uint64_t serial,
                    io_queue direction);

  socket_wait(scheduler& owner, resolver_service& service, std::uint64_t serial,
              io_queue direction) noexcept;

 private:
  static void complete(operation* base, action what);

  resolver_service& service_;
  std::uint64_t serial_;
};

}  // namespace WEFT_NAMESPACE::detail
