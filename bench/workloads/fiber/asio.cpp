// SPDX-License-Identifier: BSL-1.0
#include <asio.hpp>
#include <asio/spawn.hpp>

#include "harness/asio_net.hpp"

namespace lib = asio;

#include "fibers.hpp"

int main(int argc, char** argv) {
  return fibers::main(
      argc, argv, "asio", bench::asio_net::version(),
      [](auto& yield) { asio::post(yield.get_executor(), yield); },
      [](auto& yield, auto f) { asio::spawn(yield, f, yield); });
}
