// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "strand.hpp"

int main(int argc, char** argv) {
  return strand::main<bench::weft_net>(argc, argv, "weft");
}
