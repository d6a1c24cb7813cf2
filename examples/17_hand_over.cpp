// SPDX-License-Identifier: BSL-1.0
// Lesson 17: a connection moves to another context, here to the one that its first byte asks for.
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <weft.hpp>

using weft::local::stream_protocol;

struct site {
  weft::io_context context;
  weft::executor_work_guard<weft::io_context::executor_type> work = weft::make_work_guard(context);
  std::thread thread{[this] { context.run(); }};
};

int main() {
  std::array<site, 2> sites;
  weft::io_context front;
  for (const char* wanted : {"1", "0"}) {
    stream_protocol::socket client(front), peer(front);
    weft::local::connect_pair(client, peer);
    weft::write(client, weft::buffer(wanted, 1));
    char first = 0;
    peer.async_read_some(weft::buffer(&first, 1), [&](weft::error_code, std::size_t) {
      site& home = sites[static_cast<std::size_t>(first - '0')];
      // From here on `peer` is closed, and only the other context knows the connection.
      auto moved =
          std::make_shared<stream_protocol::socket>(weft::hand_over(std::move(peer), home.context));
      auto reply = std::make_shared<std::string>("served by site " + std::string(1, first));
      weft::async_write(*moved, weft::buffer(*reply), [=](weft::error_code, std::size_t) {});
    });
    front.restart();
    front.run();
    std::string reply;
    weft::error_code ec;
    weft::read(client, weft::dynamic_buffer(reply), ec);
    std::printf("%s\n", reply.c_str());
  }
  for (site& each : sites) {
    each.work.reset();
    each.thread.join();
  }
}
