// SPDX-License-Identifier: BSL-1.0
#include <asio.hpp>
#include <asio/experimental/channel.hpp>
#include <asio/experimental/concurrent_channel.hpp>

#include "harness/asio_net.hpp"

namespace lib = asio;

using local_channel = asio::experimental::channel<void(asio::error_code, std::uint64_t)>;
using concurrent_channel =
    asio::experimental::concurrent_channel<void(asio::error_code, std::uint64_t)>;
#define SEND(c, value) (c).async_send(asio::error_code(), value, asio::deferred)
#define RECEIVE(c) (c).async_receive(asio::deferred)

#include "channel.hpp"

int main(int argc, char** argv) {
  return channel::main(argc, argv, "asio", bench::asio_net::version());
}
