// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "chain.hpp"

int main(int argc, char** argv) {
  return chain::main<bench::asio_net>(argc, argv, "asio");
}
