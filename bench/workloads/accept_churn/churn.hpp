// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "harness/child.hpp"
#include "harness/run.hpp"

// Connections that come and go: the server accepts each and closes it at once. Only the server's
// processor time counts: a process of its own connects, keeping `clients` connections under way,
// and waits for the end of each. It resets them afterwards, so that no port stays in TIME_WAIT. An
// operation is a connection; the checksum counts the ends the client has seen.
namespace accept_churn {

using bench::die;

struct parameters {
  std::uint64_t clients;
  std::uint64_t connections;

  parameters(int argc, char** argv)
      : clients(bench::option(argc, argv, "--clients", 32)),
        connections(bench::option(argc, argv, "--connections", 100'000)) {}
};

inline void begin_connection(int epoll, std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0)
    die("socket");
  const linger reset{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS)
    die("connect");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
    die("epoll_ctl");
}

inline std::uint64_t run_clients(std::uint16_t port, const parameters& p) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::uint64_t begun = 0;
  std::uint64_t ended = 0;
  for (; begun != p.clients && begun != p.connections; ++begun)
    begin_connection(epoll, port);
  epoll_event events[128];
  while (ended != p.connections) {
    const int n = ::epoll_wait(epoll, events, 128, -1);
    for (int i = 0; i < n; ++i) {
      char byte = 0;
      if (::recv(events[i].data.fd, &byte, 1, 0) != 0)
        die("recv");
      ::close(events[i].data.fd);
      ++ended;
      if (begun != p.connections) {
        ++begun;
        begin_connection(epoll, port);
      }
    }
  }
  ::close(epoll);
  return ended;
}

/// The server, over a library with Asio's vocabulary.
template <class Net>
class server {
  using tcp = typename Net::tcp;

 public:
  server(typename Net::io_context& c, std::uint64_t connections)
      : acceptor_(c, typename tcp::endpoint(Net::loopback(), 0)), left_(connections) {
    accept();
  }

  std::uint16_t port() { return acceptor_.local_endpoint().port(); }

 private:
  void accept() {
    acceptor_.async_accept([this](typename Net::error_code ec, typename tcp::socket peer) {
      if (ec)
        std::exit(1);
      peer.close();
      if (--left_ != 0)
        accept();
    });
  }

  typename tcp::acceptor acceptor_;
  std::uint64_t left_;
};

template <class Net>
bench::result run(const parameters& p) {
  const auto context = Net::make_context();
  server<Net> s(*context, p.connections);
  bench::child clients([&, port = s.port()] { return run_clients(port, p); });
  context->run();
  return {.operations = p.connections, .checksum = clients.result()};
}

template <class Net>
int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("accept_churn", Net::name, Net::note(), [&] { return run<Net>(p); });
}

}  // namespace accept_churn
