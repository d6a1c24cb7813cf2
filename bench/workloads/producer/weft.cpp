// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "producer.hpp"

int main(int argc, char** argv) {
  return producer::main<bench::weft_net>(argc, argv, "weft");
}
