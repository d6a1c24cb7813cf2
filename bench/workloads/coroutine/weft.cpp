// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <weft.hpp>

#include "harness/weft_net.hpp"

namespace lib = weft;

#include "coroutine.hpp"

int main(int argc, char** argv) {
  return coroutine::main(argc, argv, "weft", bench::weft_net::version());
}
