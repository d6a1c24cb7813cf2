// SPDX-License-Identifier: BSL-1.0
#include "churn.hpp"
#include "harness/asio_sockets.hpp"

int main(int argc, char** argv) {
  return accept_churn::main<bench::asio_sockets>(argc, argv);
}
