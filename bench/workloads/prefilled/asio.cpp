// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "prefilled.hpp"

int main(int argc, char** argv) {
  return prefilled::main<bench::asio_net>(argc, argv, "asio");
}
