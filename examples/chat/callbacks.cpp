// SPDX-License-Identifier: BSL-1.0
// The chat server with callbacks: each step is a function that the end of the last one calls.
#include <cstdio>

#include "server.hpp"

using member_ptr = std::shared_ptr<member>;

void talk(room& chat, const member_ptr& who) {
  who->async_read_line([&chat, who](weft::error_code ec, std::size_t size) {
    if (ec)
      return chat.leave(*who, ec);
    chat.say(*who, who->take_line(size));
    talk(chat, who);
  });
}

void ask_name(room& chat, const member_ptr& who) {
  who->tell("* your name?");
  who->async_read_line([&chat, who](weft::error_code ec, std::size_t size) {
    if (ec)
      chat.leave(*who, ec);
    else if (chat.join(*who, who->take_line(size)))
      talk(chat, who);
    else
      ask_name(chat, who);
  });
}

void accept(weft::ip::tcp::acceptor& acceptor, room& chat) {
  acceptor.async_accept([&](weft::error_code ec, weft::ip::tcp::socket socket) {
    if (!acceptor.is_open())
      return;
    if (ec)
      std::fprintf(stderr, "accept: %s\n", ec.message().c_str());
    else
      ask_name(chat, chat.enter(std::move(socket)));
    accept(acceptor, chat);
  });
}

int main(int argc, char** argv) {
  server s(argc, argv);
  accept(s.acceptor, s.chat);
  s.signals.async_wait([&](weft::error_code, int) { s.close(); });
  return s.run();
}
