// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "strand_hops.hpp"

int main(int argc, char** argv) {
  return strand_hops::main<bench::asio_net>(argc, argv, "asio");
}
