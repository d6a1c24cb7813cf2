// SPDX-License-Identifier: BSL-1.0
#include "weft_dd.hpp"

int main(int argc, char** argv) {
  return dd::run_weft(argc, argv, weft::backend_kind::uring, "weft_uring");
}
