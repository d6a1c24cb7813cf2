// SPDX-License-Identifier: BSL-1.0
// The chat server with futures: a function gets what has come of the wait, and get() throws errors,
// which go along a chain of `then` until somebody catches them.
#include <cstdio>

#include "server.hpp"

using member_ptr = std::shared_ptr<member>;
using weft::as_future;
using weft::future;

// A conversation may go on for ever, so it is no chain of `then`: each line, and each name, begins
// anew.
void talk(room& chat, const member_ptr& who) {
  who->async_read_line(as_future).attach_callback([&chat, who](future<std::size_t> size) {
    try {
      chat.say(*who, who->take_line(size.get()));
      talk(chat, who);
    } catch (const weft::system_error& e) {
      chat.leave(*who, e.code());
    }
  });
}

void ask_name(room& chat, const member_ptr& who) {
  who->tell("* your name?");
  who->async_read_line(as_future)
      .then([&chat, who](future<std::size_t> size) {
        return chat.join(*who, who->take_line(size.get()));
      })
      .attach_callback([&chat, who](future<bool> has_joined) {
        try {
          if (has_joined.get())
            talk(chat, who);
          else
            ask_name(chat, who);
        } catch (const weft::system_error& e) {
          chat.leave(*who, e.code());
        }
      });
}

void accept(weft::ip::tcp::acceptor& acceptor, room& chat) {
  acceptor.async_accept(as_future).attach_callback([&](future<weft::ip::tcp::socket> accepted) {
    if (!acceptor.is_open())
      return;
    try {
      ask_name(chat, chat.enter(accepted.get()));
    } catch (const weft::system_error& e) {
      std::fprintf(stderr, "accept: %s\n", e.what());
    }
    accept(acceptor, chat);
  });
}

int main(int argc, char** argv) {
  server s(argc, argv);
  accept(s.acceptor, s.chat);
  s.signals.async_wait(as_future).attach_callback([&](future<int>) { s.close(); });
  return s.run();
}
