// SPDX-License-Identifier: BSL-1.0
#include "weft_waiter.hpp"

int main(int argc, char** argv) {
  return resume::main<resume::waiter<weft::sharing::local>>(argc, argv, "weft_local",
                                                            bench::weft_net::version());
}
