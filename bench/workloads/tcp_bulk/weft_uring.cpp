// SPDX-License-Identifier: BSL-1.0
#include "bulk.hpp"
#include "harness/weft_sockets.hpp"

int main(int argc, char** argv) {
  return tcp_bulk::main<bench::weft_uring>(argc, argv);
}
