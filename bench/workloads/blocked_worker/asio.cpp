// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "blocked_worker.hpp"

int main(int argc, char** argv) {
  return blocked_worker::main<bench::asio_net>(argc, argv, "asio");
}
