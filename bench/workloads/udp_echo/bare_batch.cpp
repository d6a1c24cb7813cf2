// SPDX-License-Identifier: BSL-1.0
#include "bare.hpp"

namespace {

using namespace udp_echo;

// What there is, with one recvmmsg and one sendmmsg.
class batch_server {
 public:
  explicit batch_server(std::size_t size) : batch_(size) {}

  std::uint64_t operator()(int fd) {
    batch_.with_addresses();
    const int n = ::recvmmsg(fd, batch_.headers(), batch_.size(), 0, nullptr);
    if (n < 0)
      die("recvmmsg");
    for (int done = 0; done != n;) {
      const int sent = ::sendmmsg(fd, batch_.headers() + done, unsigned(n - done), 0);
      if (sent <= 0)
        die("sendmmsg");
      done += sent;
    }
    return std::uint64_t(n);
  }

 private:
  batch batch_;
};

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("udp_echo", "bare_batch", "recvmmsg, sendmmsg",
                        [&] { return run_bare(p, batch_server(p.window)); });
}
