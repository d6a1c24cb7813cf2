// SPDX-License-Identifier: BSL-1.0
#include <weft.hpp>

#include "harness/weft_net.hpp"

namespace lib = weft;

using local_channel = weft::channel<std::uint64_t, weft::sharing::local>;
using concurrent_channel = weft::channel<std::uint64_t>;
#define SEND(c, value) (c).async_send(value)
#define RECEIVE(c) (c).async_receive()

#include "channel.hpp"

int main(int argc, char** argv) {
  return channel::main(argc, argv, "weft", bench::weft_net::version());
}
