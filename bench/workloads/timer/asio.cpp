// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "timer.hpp"

int main(int argc, char** argv) {
  return timer::main<bench::asio_net>(argc, argv, "asio");
}
