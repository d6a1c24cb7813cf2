// SPDX-License-Identifier: BSL-1.0
// Lesson 15: a context for each thread, and an acceptor on each. They share one port, and the
// kernel spreads the connections over them.
#include <cstdio>
#include <thread>
#include <weft.hpp>

using weft::ip::tcp;

struct site {
  explicit site(const tcp::endpoint& endpoint) : acceptor(context, endpoint.protocol()) {
    acceptor.set_option(tcp::acceptor::reuse_port(true));
    acceptor.bind(endpoint);
    acceptor.listen();
    accept();
  }
  void accept() {
    acceptor.async_accept([this](weft::error_code ec, tcp::socket peer) {
      if (ec)
        return;
      ++served;
      peer.close();
      accept();
    });
  }
  void run() {
    thread = std::thread([this] { context.run(); });
  }
  void stop() {
    weft::post(context, [this] { acceptor.close(); });
    thread.join();
  }

  weft::io_context context;
  tcp::acceptor acceptor;
  std::thread thread;
  int served = 0;  // only this site's thread touches it
};

int main() {
  site first({weft::ip::address_v4::loopback(), 0});
  site second(first.acceptor.local_endpoint());
  first.run();
  second.run();
  for (int i = 0; i != 64; ++i) {
    weft::io_context context;
    tcp::socket client(context);
    client.connect(first.acceptor.local_endpoint());
    char end = 0;
    weft::error_code ec;
    client.read_some(weft::buffer(&end, 1), ec);  // until the site has closed its end
  }
  first.stop();
  second.stop();
  std::printf("%d connections\n", first.served + second.served);
  std::puts(first.served != 0 && second.served != 0 ? "each served some" : "one served all");
}
