// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "producer.hpp"

int main(int argc, char** argv) {
  return producer::main<bench::asio_net>(argc, argv, "asio");
}
