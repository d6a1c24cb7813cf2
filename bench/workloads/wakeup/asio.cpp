// SPDX-License-Identifier: BSL-1.0
#include "harness/asio_net.hpp"

#include "context_loop.hpp"

int main(int argc, char** argv) {
  using net = bench::asio_net;
  const wakeup::parameters p(argc, argv);
  return bench::measure("wakeup", "asio", net::version() + ", io_context{1}",
                        [&] { return wakeup::run_on<net>(*net::make_context(1), p); });
}
