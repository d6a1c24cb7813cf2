// SPDX-License-Identifier: BSL-1.0
#include <algorithm>
#include <asio.hpp>

#include "harness/asio_net.hpp"

namespace lib = asio;

#include "coroutine.hpp"

int main(int argc, char** argv) {
  return coroutine::main(argc, argv, "asio", bench::asio_net::version());
}
