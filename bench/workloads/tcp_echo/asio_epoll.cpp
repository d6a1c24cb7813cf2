// SPDX-License-Identifier: BSL-1.0
#include <asio.hpp>
#include <string>

#include "echo.hpp"

namespace {

struct asio_net {
  using io_context = asio::io_context;
  using tcp = asio::ip::tcp;
  using error_code = std::error_code;
  static auto buffer(tcp_echo::block& b, std::size_t n) { return asio::buffer(b, n); }
};

}  // namespace

int main(int argc, char** argv) {
  const tcp_echo::parameters p(argc, argv);
  const int threads = static_cast<int>(p.threads);
  const std::string note = "Asio " + std::to_string(ASIO_VERSION / 100000) + '.' +
                           std::to_string(ASIO_VERSION / 100 % 1000) + '.' +
                           std::to_string(ASIO_VERSION % 100) + ", io_context{" +
                           std::to_string(threads) + "}";
  return bench::measure("tcp_echo", "asio_epoll", note, [&] {
    asio::io_context context(threads);
    return tcp_echo::run<asio_net>(context, p);
  });
}
