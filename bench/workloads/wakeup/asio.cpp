// SPDX-License-Identifier: BSL-1.0
#include <asio/buffer.hpp>
#include <asio/connect_pipe.hpp>
#include <asio/readable_pipe.hpp>
#include <asio/writable_pipe.hpp>

#include "harness/asio_net.hpp"

#include "context_loop.hpp"

namespace {

struct net : bench::asio_net {
  using readable_pipe = asio::readable_pipe;
  using writable_pipe = asio::writable_pipe;
  static auto buffer(std::array<char, 1>& data) { return asio::buffer(data); }
};

}  // namespace

int main(int argc, char** argv) {
  const wakeup::parameters p(argc, argv);
  return bench::measure("wakeup", "asio", net::version() + ", io_context{1}",
                        [&] { return wakeup::run_on<net>(*net::make_context(1), p); });
}
