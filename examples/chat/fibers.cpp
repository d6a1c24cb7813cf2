// SPDX-License-Identifier: BSL-1.0
// The chat server with fibers: ordinary functions, which wait wherever they like. The yield_context
// is the token; errors are thrown, or kept by yield[ec].
#include <cstdio>

#include "server.hpp"

using weft::yield_context;

void serve(room& chat, member& who, yield_context yield) {
  try {
    do
      who.tell("* your name?");
    while (!chat.join(who, who.take_line(who.async_read_line(yield))));
    for (;;)
      chat.say(who, who.take_line(who.async_read_line(yield)));
  } catch (const weft::system_error& e) {
    chat.leave(who, e.code());
  }
}

void accept(weft::ip::tcp::acceptor& acceptor, room& chat, yield_context yield) {
  for (;;) {
    weft::error_code ec;
    weft::ip::tcp::socket socket = acceptor.async_accept(yield[ec]);
    if (!acceptor.is_open())
      return;
    if (ec)
      std::fprintf(stderr, "accept: %s\n", ec.message().c_str());
    else
      weft::spawn(
          acceptor.get_executor(),
          [&chat, who = chat.enter(std::move(socket))](yield_context y) { serve(chat, *who, y); },
          weft::detached);
  }
}

int main(int argc, char** argv) {
  server s(argc, argv);
  weft::spawn(
      s.context, [&](yield_context yield) { accept(s.acceptor, s.chat, yield); }, weft::detached);
  weft::spawn(
      s.context,
      [&](yield_context yield) {
        s.signals.async_wait(yield);
        s.close();
      },
      weft::detached);
  return s.run();
}
