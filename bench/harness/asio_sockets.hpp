// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <string>

#include "harness/asio_net.hpp"

namespace bench {

/// As weft_sockets. Asio chooses its backend when it is compiled.
struct asio_sockets : asio_net {
  using tcp = asio::ip::tcp;
  using udp = asio::ip::udp;
  using error_code = std::error_code;
  static auto loopback() { return asio::ip::address_v4::loopback(); }
  static auto buffer(void* data, std::size_t size) { return asio::buffer(data, size); }

#ifdef ASIO_HAS_IO_URING_AS_DEFAULT
  static constexpr const char* name = "asio_uring";
#else
  static constexpr const char* name = "asio_epoll";
#endif
  static std::string note() { return version() + ", io_context{1}"; }
  static auto make_context() { return asio_net::make_context(1); }
};

}  // namespace bench
