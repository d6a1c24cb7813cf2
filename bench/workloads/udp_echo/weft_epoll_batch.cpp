// SPDX-License-Identifier: BSL-1.0
#include "weft_batch.hpp"

int main(int argc, char** argv) {
  return udp_echo::batch_main<bench::weft_epoll>(argc, argv, "weft_epoll_batch");
}
