// SPDX-License-Identifier: BSL-1.0
// Lesson 16: one acceptor for many contexts. Each connection is accepted right into the context
// that will serve it, in turn.
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <weft.hpp>

using weft::ip::tcp;

struct site {
  weft::io_context context;
  weft::executor_work_guard<weft::io_context::executor_type> work = weft::make_work_guard(context);
  std::thread thread{[this] { context.run(); }};
};

std::array<site, 2> sites;

void serve(std::shared_ptr<tcp::socket> peer, std::size_t site) {
  const bool at_home = sites[site].context.get_executor().running_in_this_thread();
  auto reply = std::make_shared<std::string>(at_home ? "site " + std::to_string(site) : "astray");
  weft::async_write(*peer, weft::buffer(*reply), [peer, reply](weft::error_code, std::size_t) {});
}

void accept(tcp::acceptor& acceptor, std::size_t site) {
  acceptor.async_accept(sites[site].context, [&acceptor, site](weft::error_code ec, auto peer) {
    if (ec)
      return;
    auto shared = std::make_shared<tcp::socket>(std::move(peer));
    weft::post(sites[site].context, [shared, site] { serve(shared, site); });
    accept(acceptor, (site + 1) % sites.size());
  });
}

int main() {
  weft::io_context front;
  tcp::acceptor acceptor(front, {weft::ip::address_v4::loopback(), 0});
  accept(acceptor, 0);
  std::thread thread([&] { front.run(); });
  for (int i = 0; i != 4; ++i) {
    weft::io_context context;
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    std::string reply;
    weft::error_code ec;
    weft::read(client, weft::dynamic_buffer(reply), ec);
    std::printf("%s\n", reply.c_str());
  }
  weft::post(front, [&] { acceptor.close(); });
  thread.join();
  for (site& each : sites) {
    each.work.reset();
    each.thread.join();
  }
}
