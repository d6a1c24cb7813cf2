// SPDX-License-Identifier: BSL-1.0
#include "asio_echo.hpp"

int main(int argc, char** argv) {
  return tcp_echo::run_asio(argc, argv, "asio_epoll");
}
