// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "strand_hops.hpp"

int main(int argc, char** argv) {
  return strand_hops::main<bench::weft_net>(argc, argv, "weft");
}
