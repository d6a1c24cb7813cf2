// SPDX-License-Identifier: BSL-1.0
// Asio chooses io_uring when it is compiled.
#define ASIO_HAS_IO_URING 1
#define ASIO_DISABLE_EPOLL 1
#include "asio_echo.hpp"

int main(int argc, char** argv) {
  return tcp_echo::run_asio(argc, argv, "asio_uring");
}
