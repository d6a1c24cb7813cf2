// SPDX-License-Identifier: BSL-1.0
#include "churn.hpp"

namespace {

using namespace accept_churn;

// Level-triggered; each event is followed by accepts until there are none left.
bench::result run(const parameters& p) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int acceptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  epoll_event event{};
  event.events = EPOLLIN;
  if (::bind(acceptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(acceptor, SOMAXCONN) != 0 ||
      ::getsockname(acceptor, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, acceptor, &event) != 0)
    die("listen");
  bench::child clients([&] { return run_clients(ntohs(address.sin_port), p); });
  for (std::uint64_t accepted = 0; accepted != p.connections;) {
    ::epoll_wait(epoll, &event, 1, -1);
    for (;;) {
      const int peer = ::accept4(acceptor, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0 && errno == EAGAIN)
        break;
      if (peer < 0)
        die("accept");
      ::close(peer);
      ++accepted;
    }
  }
  ::close(acceptor);
  ::close(epoll);
  return {.operations = p.connections, .checksum = clients.result()};
}

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("accept_churn", "bare_epoll", "level-triggered", [&] { return run(p); });
}
