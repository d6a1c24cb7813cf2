// SPDX-License-Identifier: BSL-1.0
#include <cerrno>

#include "bare.hpp"

namespace {

using namespace udp_echo;

// recvfrom and sendto until there is nothing left.
std::uint64_t serve(int fd) {
  message data;
  sockaddr_in sender;
  for (std::uint64_t done = 0;; ++done) {
    socklen_t size = sizeof sender;
    auto* address = reinterpret_cast<sockaddr*>(&sender);
    const ssize_t n = ::recvfrom(fd, data.data(), data.size(), 0, address, &size);
    if (n < 0 && errno == EAGAIN)
      return done;
    if (n < 0 || ::sendto(fd, data.data(), std::size_t(n), 0, address, size) != n)
      die("recvfrom, sendto");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("udp_echo", "bare_single", "recvfrom, sendto",
                        [&] { return run_bare(p, &serve); });
}
