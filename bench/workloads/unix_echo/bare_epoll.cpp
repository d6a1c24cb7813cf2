// SPDX-License-Identifier: BSL-1.0
#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>

#include "echo.hpp"

namespace {

using namespace unix_echo;

// Level-triggered, registered once: one epoll_wait for many messages, one recv and one send each.
struct end : peer {
  end(int descriptor, bool starts, std::uint64_t messages)
      : peer(starts, messages), fd(descriptor) {}

  void send() {
    if (::send(fd, data.data(), data.size(), MSG_NOSIGNAL) != ssize_t(data.size()))
      die("send");
  }

  int fd;
  std::size_t filled = 0;
};

bench::result run(const parameters& p) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<end>> ends;
  std::uint64_t running = 0;
  for (std::uint64_t i = 0; i < p.pairs; ++i) {
    const auto fds = make_pair(SOCK_NONBLOCK);
    for (int k = 0; k < 2; ++k) {
      ends.push_back(std::make_unique<end>(fds[std::size_t(k)], k == 0, p.messages));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = ends.back().get();
      if (::epoll_ctl(epoll, EPOLL_CTL_ADD, ends.back()->fd, &event) != 0)
        die("epoll_ctl");
      ++running;
    }
  }
  for (auto& e : ends)
    if (e->starts())
      e->send();
  epoll_event events[128];
  while (running != 0) {
    const int n = ::epoll_wait(epoll, events, 128, -1);
    for (int i = 0; i < n; ++i) {
      end& e = *static_cast<end*>(events[i].data.ptr);
      const ssize_t got = ::recv(e.fd, e.data.data() + e.filled, message_size - e.filled, 0);
      if (got <= 0) {
        if (got < 0 && errno == EAGAIN)
          continue;
        die("recv");
      }
      if ((e.filled += std::size_t(got)) != message_size)
        continue;
      e.filled = 0;
      if (e.received())
        e.send();
      if (!e.expects())
        --running;
    }
  }
  for (auto& e : ends)
    ::close(e->fd);
  ::close(epoll);
  return total(p, ends);
}

}  // namespace

int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("unix_echo", "bare_epoll", "level-triggered", [&] { return run(p); });
}
