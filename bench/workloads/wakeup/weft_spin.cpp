// SPDX-License-Identifier: BSL-1.0
#include "weft_loop.hpp"

int main(int argc, char** argv) {
  // Longer than the poster's pause: the loop is always awake.
  return wakeup::run_weft(argc, argv, weft::backend_kind::epoll, "weft_spin",
                          std::chrono::microseconds(500));
}
