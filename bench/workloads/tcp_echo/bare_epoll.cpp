// SPDX-License-Identifier: BSL-1.0
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "echo.hpp"

namespace {

using namespace tcp_echo;

void watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    die("epoll_ctl");
}

// Level-triggered, registered once: one epoll_wait for many messages, one recv and one send each.
bench::result run(const parameters& p) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int acceptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  if (::bind(acceptor, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(acceptor, SOMAXCONN) != 0 ||
      ::getsockname(acceptor, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    die("listen");
  clients c(p, ntohs(address.sin_port));
  watch(epoll, acceptor);
  block data;
  epoll_event events[128];
  for (std::uint64_t accepted = 0, open = 0; accepted != p.connections || open != 0;) {
    const int n = ::epoll_wait(epoll, events, 128, -1);
    for (int i = 0; i < n; ++i) {
      const int fd = events[i].data.fd;
      if (fd == acceptor) {
        const int peer = ::accept4(acceptor, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (peer < 0)
          die("accept");
        const int on = 1;
        ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(epoll, peer);
        ++open;
        if (++accepted == p.connections)
          ::close(acceptor);
        continue;
      }
      const ssize_t got = ::recv(fd, data.data(), data.size(), 0);
      if (got > 0) {
        if (::send(fd, data.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) != got)
          die("send");
      } else {
        ::close(fd);
        --open;
      }
    }
  }
  ::close(epoll);
  return c.result();
}

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  if (p.threads != 1) {
    std::fputs("bare_epoll: one thread only\n", stderr);
    return 2;
  }
  return bench::measure("tcp_echo", "bare_epoll", "level-triggered", [&] { return run(p); });
}
