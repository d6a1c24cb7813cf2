// SPDX-License-Identifier: BSL-1.0
#include "echo.hpp"
#include "harness/weft_sockets.hpp"

int main(int argc, char** argv) {
  return udp_echo::main<bench::weft_epoll>(argc, argv);
}
