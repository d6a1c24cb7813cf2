// SPDX-License-Identifier: BSL-1.0
#include "bare_epoll.hpp"

namespace {

/// All connections share one buffer, which stays in the nearest cache: less than a server can do
/// that keeps parts of messages.
class sharing_connections {
 public:
  epoll_data_t add(int fd) { return {.u64 = static_cast<std::uint64_t>(fd)}; }
  int descriptor(epoll_data_t mark) const { return static_cast<int>(mark.u64); }
  tcp_echo::block& buffer(epoll_data_t) { return data_; }

 private:
  tcp_echo::block data_;
};

}  // namespace

int main(int argc, char** argv) {
  return tcp_echo::bare_main<sharing_connections>(argc, argv, "bare_epoll",
                                                  "level-triggered, one buffer");
}
