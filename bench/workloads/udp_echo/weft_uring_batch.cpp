// SPDX-License-Identifier: BSL-1.0
#include "weft_batch.hpp"

int main(int argc, char** argv) {
  return udp_echo::batch_main<bench::weft_uring>(argc, argv, "weft_uring_batch");
}
