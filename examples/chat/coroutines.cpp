// SPDX-License-Identifier: BSL-1.0
// The chat server with C++20 coroutines: it reads like a program that blocks. co_await throws
// errors; nothing may be awaited in a handler of exceptions, nor needs to be.
#include <cstdio>

#include "server.hpp"

using weft::awaitable;
using weft::deferred;

awaitable<void> serve(room& chat, std::shared_ptr<member> who) {
  try {
    do
      who->tell("* your name?");
    while (!chat.join(*who, who->take_line(co_await who->async_read_line(deferred))));
    for (;;)
      chat.say(*who, who->take_line(co_await who->async_read_line(deferred)));
  } catch (const weft::system_error& e) {
    chat.leave(*who, e.code());
  }
}

awaitable<void> accept(weft::ip::tcp::acceptor& acceptor, room& chat) {
  for (;;) {
    auto [ec, socket] = co_await acceptor.async_accept(weft::as_tuple);
    if (!acceptor.is_open())
      co_return;
    if (ec)
      std::fprintf(stderr, "accept: %s\n", ec.message().c_str());
    else
      co_spawn(acceptor.get_executor(), serve(chat, chat.enter(std::move(socket))), weft::detached);
  }
}

awaitable<void> close_when_told(server& s) {
  co_await s.signals.async_wait();
  s.close();
}

int main(int argc, char** argv) {
  server s(argc, argv);
  co_spawn(s.context, accept(s.acceptor, s.chat), weft::detached);
  co_spawn(s.context, close_when_told(s), weft::detached);
  return s.run();
}
