// SPDX-License-Identifier: BSL-1.0
// Lesson 29: fibers. A function with a stack of its own waits in the middle of a loop, or deep in
// what it calls, where a thread would block. The yield_context is the token that it waits by.
#include <array>
#include <cstdio>
#include <string>
#include <weft.hpp>

using weft::yield_context;
using weft::ip::tcp;

void echo(tcp::acceptor& acceptor, yield_context yield) {
  tcp::socket peer = acceptor.async_accept(yield);
  std::array<char, 64> data;
  for (weft::error_code ec;;) {
    const std::size_t n = peer.async_read_some(weft::buffer(data), yield[ec]);
    if (ec) {
      std::printf("server: %s\n", ec == weft::error::eof ? "end of file" : "failed");
      return;
    }
    weft::async_write(peer, weft::buffer(data, n), yield);
  }
}

std::string ask(tcp::endpoint server, const std::string& question, yield_context yield) {
  tcp::socket socket(yield.get_executor());
  socket.async_connect(server, yield);
  weft::async_write(socket, weft::buffer(question), yield);
  std::string answer(question.size(), ' ');
  weft::async_read(socket, weft::buffer(answer), yield);
  return answer;
}

int main() {
  weft::io_context context;
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  weft::fiber server(context, [&](yield_context yield) { echo(acceptor, yield); });
  weft::spawn(
      context,
      [&](yield_context yield) {
        std::printf("client: %s\n", ask(acceptor.local_endpoint(), "hello", yield).c_str());
        server.async_join(yield);
        std::printf("both have ended\n");
      },
      weft::detached);
  context.run();
}
