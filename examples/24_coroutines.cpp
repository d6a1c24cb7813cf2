// SPDX-License-Identifier: BSL-1.0
// Lesson 24: coroutines. co_await of an operation needs no token: it gives the results, and throws
// errors. What co_spawn starts runs by itself, and is cancelled as any operation is.
#include <array>
#include <cstdio>
#include <string>
#include <weft.hpp>

using weft::awaitable;
using weft::ip::tcp;

awaitable<void> echo(tcp::acceptor& acceptor) {
  tcp::socket peer = co_await acceptor.async_accept();
  std::array<char, 64> data;
  try {
    for (;;) {
      const std::size_t n = co_await peer.async_read_some(weft::buffer(data));
      co_await weft::async_write(peer, weft::buffer(data, n));
    }
  } catch (const weft::system_error& e) {
    std::printf("server: %s\n", e.code() == weft::error::eof ? "end of file" : e.what());
  }
}

awaitable<std::string> ask(tcp::endpoint server, std::string question) {
  tcp::socket socket(co_await weft::this_coro::executor);
  co_await socket.async_connect(server);
  co_await weft::async_write(socket, weft::buffer(question));
  std::string answer(question.size(), ' ');
  co_await weft::async_read(socket, weft::buffer(answer));
  co_return answer;
}

int main() {
  weft::io_context context;
  tcp::acceptor acceptor(context, {weft::ip::address_v4::loopback(), 0});
  co_spawn(context, echo(acceptor), weft::detached);
  co_spawn(context, ask(acceptor.local_endpoint(), "hello"),
           [](std::exception_ptr error, const std::string& answer) {
             if (!error)
               std::printf("client: %s\n", answer.c_str());
           });
  context.run();
}
