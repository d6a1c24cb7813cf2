// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/epoll.h>

#include "echo.hpp"

namespace udp_echo {

/// A server without a library: level-triggered epoll, and at each event `serve(fd)`, which returns
/// how many datagrams it has sent back.
template <class Serve>
bench::result run_bare(const parameters& p, Serve serve) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  epoll_event event{};
  event.events = EPOLLIN;
  if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    die("bind");
  bench::child client([&] { return run_client(ntohs(address.sin_port), p); });
  for (std::uint64_t done = 0; done != p.datagrams();) {
    ::epoll_wait(epoll, &event, 1, -1);
    done += serve(fd);
  }
  ::close(fd);
  ::close(epoll);
  return {.operations = p.datagrams(), .checksum = client.result()};
}

}  // namespace udp_echo
