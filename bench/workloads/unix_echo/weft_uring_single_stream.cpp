// SPDX-License-Identifier: BSL-1.0
#include "weft_stream.hpp"

int main(int argc, char** argv) {
  return unix_echo::run_streams(argc, argv, weft::backend_kind::uring, "weft_uring_single_stream",
                                true);
}
