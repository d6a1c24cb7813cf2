// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "echo.hpp"

namespace tcp_echo {

/// Tells the acceptor's events from those of connections.
inline constexpr std::uint64_t acceptor_mark = ~std::uint64_t{0};

inline void watch(int epoll, int fd, epoll_data_t mark) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data = mark;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    die("epoll_ctl");
}

/// A server without a library. Level-triggered, registered once: one epoll_wait for many messages,
/// one recv and one send each. `Connections` makes the mark by which epoll tells of a descriptor,
/// and finds descriptor and buffer by it.
template <class Connections>
bench::result run_bare(const parameters& p) {
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
  watch(epoll, acceptor, {.u64 = acceptor_mark});
  Connections connections;
  epoll_event events[128];
  for (std::uint64_t accepted = 0, open = 0; accepted != p.connections || open != 0;) {
    const int n = ::epoll_wait(epoll, events, 128, -1);
    for (int i = 0; i < n; ++i) {
      const epoll_data_t mark = events[i].data;
      if (mark.u64 == acceptor_mark) {
        const int peer = ::accept4(acceptor, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (peer < 0)
          die("accept");
        const int on = 1;
        ::setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(epoll, peer, connections.add(peer));
        ++open;
        if (++accepted == p.connections)
          ::close(acceptor);
        continue;
      }
      const int fd = connections.descriptor(mark);
      block& data = connections.buffer(mark);
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

template <class Connections>
int bare_main(int argc, char** argv, const char* name, const char* note) {
  const parameters p(argc, argv);
  if (p.threads != 1) {
    std::fprintf(stderr, "%s: one thread only\n", name);
    return 2;
  }
  return bench::measure("tcp_echo", name, note, [&] { return run_bare<Connections>(p); });
}

}  // namespace tcp_echo
