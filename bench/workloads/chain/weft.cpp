// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "chain.hpp"

int main(int argc, char** argv) {
  return chain::main<bench::weft_net>(argc, argv, "weft");
}
