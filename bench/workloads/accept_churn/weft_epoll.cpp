// SPDX-License-Identifier: BSL-1.0
#include "churn.hpp"
#include "harness/weft_sockets.hpp"

int main(int argc, char** argv) {
  return accept_churn::main<bench::weft_epoll>(argc, argv);
}
