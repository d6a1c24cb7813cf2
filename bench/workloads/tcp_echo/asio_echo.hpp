// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <asio.hpp>
#include <string>

#include "harness/asio_net.hpp"

#include "echo.hpp"

namespace tcp_echo {

struct asio_net {
  using io_context = asio::io_context;
  using tcp = asio::ip::tcp;
  using error_code = std::error_code;
  static auto buffer(block& b, std::size_t n) { return asio::buffer(b, n); }
};

inline int run_asio(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  const int threads = static_cast<int>(p.threads);
  const std::string note =
      bench::asio_net::version() + ", io_context{" + std::to_string(threads) + "}";
  return bench::measure("tcp_echo", name, note, [&] {
    asio::io_context context(threads);
    return run<asio_net>(context, p);
  });
}

}  // namespace tcp_echo
