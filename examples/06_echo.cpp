// SPDX-License-Identifier: BSL-1.0
// Lesson 6: a TCP server and its client on one context. Port 0 lets the system pick a free one.
#include <array>
#include <cstdio>
#include <string>
#include <weft.hpp>

using weft::ip::tcp;

int main() {
  weft::io_context context;
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  tcp::socket server(context), client(context);
  std::array<char, 64> data;
  std::string reply(5, '\0');

  acceptor.async_accept(server, [&](weft::error_code) {
    server.async_read_some(weft::buffer(data), [&](weft::error_code, std::size_t n) {
      weft::async_write(server, weft::buffer(data, n), [](weft::error_code, std::size_t) {});
    });
  });
  client.async_connect(acceptor.local_endpoint(), [&](weft::error_code ec) {
    if (ec)
      return;
    weft::async_write(client, weft::buffer("hello", 5), [&](weft::error_code, std::size_t) {
      weft::async_read(client, weft::buffer(reply), [&](weft::error_code, std::size_t n) {
        std::printf("%zu bytes back: %s\n", n, reply.c_str());
      });
    });
  });
  context.run();
}
