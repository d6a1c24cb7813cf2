// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <string>

#include <weft/io/buffer.hpp>
#include <weft/io/read.hpp>
#include <weft/io/write.hpp>
#include <weft/net/tcp.hpp>
#include <weft/net/udp.hpp>

#include "harness/weft_backend.hpp"
#include "harness/weft_net.hpp"

namespace bench {

/// What a server names besides, if it is written once for weft and for Asio: also what it is called
/// in the results, and how it makes the context of its one thread. What is not named is found by
/// argument.
struct weft_sockets : weft_net {
  using tcp = weft::ip::tcp;
  using udp = weft::ip::udp;
  using error_code = weft::error_code;
  static auto loopback() { return weft::ip::address_v4::loopback(); }
  static auto buffer(void* data, std::size_t size) { return weft::buffer(data, size); }
  static std::string note() { return "io_context{1}"; }
};

struct weft_epoll : weft_sockets {
  static constexpr const char* name = "weft_epoll";
  static auto make_context() {
    return std::make_unique<io_context>(
        weft::io_context_options{.concurrency_hint = 1, .backend = weft::backend_kind::epoll});
  }
};

struct weft_uring : weft_sockets {
  static constexpr const char* name = "weft_uring";
  static auto make_context() {
    return std::make_unique<io_context>(weft::io_context_options{
        .concurrency_hint = 1, .backend = available(weft::backend_kind::uring)});
  }
};

}  // namespace bench
