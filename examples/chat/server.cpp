// SPDX-License-Identifier: BSL-1.0
#include "server.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>

namespace {

int number(int argc, char** argv, int index, int otherwise) {
  return index < argc ? std::atoi(argv[index]) : otherwise;
}

}  // namespace

server::server(int argc, char** argv)
    : acceptor(context, {weft::ip::address_v4::loopback(),
                         static_cast<std::uint16_t>(number(argc, argv, 1, 0))}),
      signals(context, SIGINT, SIGTERM),
      chat(std::chrono::milliseconds(number(argc, argv, 2, 300'000))) {}

void server::close() {
  acceptor.close();
  chat.close();
}

int server::run() {
  std::printf("port %d\n", acceptor.local_endpoint().port());
  std::fflush(stdout);
  context.run();
  std::puts("all have left");
  return 0;
}
