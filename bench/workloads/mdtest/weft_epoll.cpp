// SPDX-License-Identifier: BSL-1.0
#include "weft_mdtest.hpp"

int main(int argc, char** argv) {
  return mdtest::run_weft(argc, argv, weft::backend_kind::epoll, "weft_epoll");
}
