// SPDX-License-Identifier: BSL-1.0
#include <weft.hpp>

#include "harness/weft_net.hpp"

namespace lib = weft;

#include "fibers.hpp"

int main(int argc, char** argv) {
  return fibers::main(
      argc, argv, "weft", bench::weft_net::version(), [](auto& yield) { yield.yield(); },
      [](auto& yield, auto f) { weft::spawn(yield, f, yield); });
}
