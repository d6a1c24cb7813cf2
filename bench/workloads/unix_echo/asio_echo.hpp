// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <asio.hpp>
#include <string>

#include "harness/asio_net.hpp"

#include "echo.hpp"

namespace unix_echo {

struct asio_net {
  using io_context = asio::io_context;
  using socket = asio::local::stream_protocol::socket;
  using error_code = std::error_code;
  static auto buffer(peer::message& m) { return asio::buffer(m); }
  static void connect_pair(socket& a, socket& b) { asio::local::connect_pair(a, b); }
};

inline int run_asio(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  const std::string note = bench::asio_net::version() + ", io_context{1}";
  return bench::measure("unix_echo", name, note, [&] {
    asio::io_context context(1);
    return run<asio_net>(context, p);
  });
}

}  // namespace unix_echo
