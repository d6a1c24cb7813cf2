// SPDX-License-Identifier: BSL-1.0
#include "weft_waiter.hpp"

int main(int argc, char** argv) {
  return resume::main<resume::waiter<weft::sharing::concurrent>>(argc, argv, "weft_concurrent",
                                                                 bench::weft_net::version());
}
