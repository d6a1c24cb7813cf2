// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "blocked_worker.hpp"

int main(int argc, char** argv) {
  return blocked_worker::main<bench::weft_net>(argc, argv, "weft");
}
