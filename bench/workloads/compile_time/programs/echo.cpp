// SPDX-License-Identifier: BSL-1.0
// The echo server of README.md, for the library that BENCH_HEADER and BENCH_NAMESPACE name.
#include BENCH_HEADER

#include <array>
#include <memory>
#include <system_error>

namespace net = BENCH_NAMESPACE;
using net::ip::tcp;

void serve(std::shared_ptr<tcp::socket> peer, std::shared_ptr<std::array<char, 4096>> data) {
  peer->async_read_some(net::buffer(*data), [=](std::error_code ec, std::size_t n) {
    if (!ec)
      net::async_write(*peer, net::buffer(*data, n), [=](std::error_code failed, std::size_t) {
        if (!failed)
          serve(peer, data);
      });
  });
}

void accept(tcp::acceptor& acceptor) {
  acceptor.async_accept([&](std::error_code ec, tcp::socket peer) {
    if (!ec)
      serve(std::make_shared<tcp::socket>(std::move(peer)),
            std::make_shared<std::array<char, 4096>>());
    accept(acceptor);
  });
}

int main() {
  net::io_context context;
  tcp::acceptor acceptor(context, {tcp::v4(), 7007});
  accept(acceptor);
  context.run();
}
