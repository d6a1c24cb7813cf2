// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_sockets.hpp"
#include "idle.hpp"

int main(int argc, char** argv) {
  return idle_memory::main<bench::weft_uring>(argc, argv);
}
