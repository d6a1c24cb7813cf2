// SPDX-License-Identifier: BSL-1.0
#define ASIO_HAS_IO_URING 1
#define ASIO_DISABLE_EPOLL 1
#include "churn.hpp"
#include "harness/asio_sockets.hpp"

int main(int argc, char** argv) {
  return accept_churn::main<bench::asio_sockets>(argc, argv);
}
