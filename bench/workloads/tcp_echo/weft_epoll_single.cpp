// SPDX-License-Identifier: BSL-1.0
#include "weft_echo.hpp"

int main(int argc, char** argv) {
  return tcp_echo::run_weft(argc, argv, weft::backend_kind::epoll, "weft_epoll_single", true);
}
