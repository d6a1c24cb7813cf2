// SPDX-License-Identifier: BSL-1.0
#include "weft_loop.hpp"

int main(int argc, char** argv) {
  return wakeup::run_weft(argc, argv, weft::backend_kind::uring, "weft_uring");
}
