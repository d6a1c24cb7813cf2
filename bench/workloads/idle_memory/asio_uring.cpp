// SPDX-License-Identifier: BSL-1.0
#define ASIO_HAS_IO_URING 1
#define ASIO_DISABLE_EPOLL 1
#include "harness/asio_sockets.hpp"
#include "idle.hpp"

int main(int argc, char** argv) {
  return idle_memory::main<bench::asio_sockets>(argc, argv);
}
