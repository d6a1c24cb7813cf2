// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_sockets.hpp"
#include "idle.hpp"

int main(int argc, char** argv) {
  return idle_memory::main<bench::asio_sockets>(argc, argv);
}
