// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "harness/child.hpp"
#include "harness/descriptors.hpp"
#include "harness/run.hpp"

namespace tcp_echo {

inline constexpr std::size_t message_size = 64;

/// The numbers of the command line: connections, messages over all of them, and the threads that
/// run the server's context.
struct parameters {
  std::uint64_t connections;
  std::uint64_t messages;
  std::uint64_t threads;

  parameters(int argc, char** argv)
      : connections(bench::option(argc, argv, "--connections", 64)),
        messages(bench::option(argc, argv, "--messages", 200'000)),
        threads(bench::option(argc, argv, "--threads", 1)) {
    bench::need_descriptors(connections + 100);
  }

  std::uint64_t messages_of_each() const { return messages / connections; }
};

using bench::die;

/// One connection of a client: a message goes out, and all of it comes back before the next.
class client {
 public:
  client(std::uint16_t port, std::uint64_t messages) : messages_(messages) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      die("connect");
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  int fd() const { return fd_; }
  std::uint64_t sum() const { return sum_; }

  void send() {
    std::array<char, message_size> message{};
    std::memcpy(message.data(), &number_, sizeof number_);
    if (::send(fd_, message.data(), message.size(), MSG_NOSIGNAL) != ssize_t(message.size()))
      die("send");
  }

  /// Takes what has come. False: that was the last message, and the connection is closed.
  bool receive() {
    const ssize_t n = ::recv(fd_, data_.data() + filled_, data_.size() - filled_, MSG_DONTWAIT);
    if (n <= 0) {
      if (n < 0 && errno == EAGAIN)
        return true;
      die("recv");
    }
    filled_ += static_cast<std::size_t>(n);
    if (filled_ != data_.size())
      return true;
    filled_ = 0;
    std::uint64_t number = 0;
    std::memcpy(&number, data_.data(), sizeof number);
    if (number != number_) {
      std::fputs("a message came back that was not due\n", stderr);
      std::_Exit(1);
    }
    sum_ += number;
    if (++number_ != messages_) {
      send();
      return true;
    }
    ::close(fd_);
    return false;
  }

 private:
  int fd_;
  std::uint64_t messages_;
  std::uint64_t number_ = 0;
  std::uint64_t sum_ = 0;
  std::array<char, message_size> data_;
  std::size_t filled_ = 0;
};

/// All the clients, by one epoll loop; returns the sum of what they have got back.
inline std::uint64_t run_clients(const parameters& p, std::uint16_t port) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<client> all;
  all.reserve(p.connections);
  for (std::uint64_t i = 0; i != p.connections; ++i) {
    all.emplace_back(port, p.messages_of_each());
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &all.back();
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, all.back().fd(), &event) != 0)
      die("epoll_ctl");
  }
  for (client& c : all)
    c.send();
  std::uint64_t open = p.connections;
  epoll_event events[128];
  while (open != 0) {
    const int n = ::epoll_wait(epoll, events, 128, -1);
    for (int i = 0; i < n; ++i)
      if (!static_cast<client*>(events[i].data.ptr)->receive())
        --open;
  }
  std::uint64_t sum = 0;
  for (const client& c : all)
    sum += c.sum();
  return sum;
}

/// The clients in a process of their own.
class clients {
 public:
  /// Forks; no other thread may run yet. They connect to the loopback address.
  clients(const parameters& p, std::uint16_t port)
      : operations_(p.messages_of_each() * p.connections),
        process_([&] { return run_clients(p, port); }) {}

  /// What they have sent and got back; waits for their end.
  bench::result result() { return {.operations = operations_, .checksum = process_.result()}; }

 private:
  std::uint64_t operations_;
  bench::child process_;
};

}  // namespace tcp_echo
