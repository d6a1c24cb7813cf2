// SPDX-License-Identifier: BSL-1.0
#include "harness/weft_net.hpp"

#include "timer_crowd.hpp"

int main(int argc, char** argv) {
  return timer_crowd::main<bench::weft_net>(argc, argv, "weft");
}
