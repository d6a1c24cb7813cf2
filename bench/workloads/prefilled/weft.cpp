// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "prefilled.hpp"

int main(int argc, char** argv) {
  return prefilled::main<bench::weft_net>(argc, argv, "weft");
}
