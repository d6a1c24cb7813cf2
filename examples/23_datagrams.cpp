// SPDX-License-Identifier: BSL-1.0
// Lesson 23: datagrams in batches: one call sends them all, another receives what has come.
#include <cstdio>
#include <string>
#include <vector>
#include <weft.hpp>

using weft::ip::udp;

int main() {
  weft::io_context context;
  const udp::endpoint any_port(weft::ip::address_v4::loopback(), 0);
  udp::socket server(context, any_port), client(context, any_port);
  const udp::endpoint to = server.local_endpoint();

  const std::vector<std::string> words{"many", "small", "messages"};
  std::vector<udp::socket::outgoing_datagram> out;
  for (const std::string& word : words)
    out.push_back({weft::buffer(word), &to});
  client.async_send_batch(out, [](weft::error_code ec, std::size_t n) {
    std::printf("sent %zu: %s\n", n, ec.message().c_str());
  });
  context.run();

  char bytes[16][64];
  udp::socket::incoming_datagram in[16];
  for (int i = 0; i != 16; ++i)
    in[i].buffer = weft::buffer(bytes[i]);
  server.async_receive_batch(in, [&](weft::error_code, std::size_t n) {
    for (const udp::socket::incoming_datagram& d : std::span(in, n))
      std::printf("received %.*s\n", static_cast<int>(d.size),
                  static_cast<const char*>(d.buffer.data()));
  });
  context.restart();
  context.run();
}
