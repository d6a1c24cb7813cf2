// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "harness/child.hpp"
#include "harness/descriptors.hpp"
#include "harness/resident.hpp"
#include "harness/run.hpp"

// What an idle connection costs in user space: the growth, per connection, of the server's resident
// anonymous memory from the first hundred accepted connections to the last. That is the program's
// own block with a socket and a buffer of one byte, the pending read with its handler, and what the
// library and malloc keep for them. It is no memory of the kernel's. Then nothing happens for a
// while, of which the processor time is told. In the end each connection is closed by its client;
// the checksum counts the reads that have ended so.
namespace idle_memory {

using bench::die;

struct parameters {
  std::uint64_t connections;
  std::uint64_t rest_ms;

  parameters(int argc, char** argv)
      : connections(bench::option(argc, argv, "--connections", 10'000)),
        rest_ms(bench::option(argc, argv, "--rest-ms", 2'000)) {
    bench::need_descriptors(connections + 100);
  }
};

/// Connects so often, waits for a byte on the first connection, then closes all of them.
inline std::uint64_t run_clients(std::uint16_t port, const parameters& p) {
  std::vector<int> fds;
  for (std::uint64_t i = 0; i != p.connections; ++i) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      die("connect");
    fds.push_back(fd);
  }
  char byte = 0;
  if (::recv(fds.front(), &byte, 1, 0) != 1)
    die("recv");
  for (const int fd : fds)
    ::close(fd);
  return 0;
}

/// The server, over a library with Asio's vocabulary.
template <class Net>
class server {
  using tcp = typename Net::tcp;
  using error_code = typename Net::error_code;

 public:
  server(typename Net::io_context& c, const parameters& p)
      : acceptor_(c, typename tcp::endpoint(Net::loopback(), 0)),
        connections_(p.connections),
        rest_(p.rest_ms) {
    sessions_.reserve(connections_);
    accept();
  }
  ~server() {
    if (resting_.joinable())
      resting_.join();
  }

  std::uint16_t port() { return acceptor_.local_endpoint().port(); }
  std::uint64_t ended() const { return ended_; }
  double bytes_of_each() const { return bytes_of_each_; }
  /// Of one processor, while nothing happened.
  double busy_percent() const { return busy_percent_; }

 private:
  struct session {
    explicit session(typename tcp::socket s) : socket(std::move(s)) {}
    typename tcp::socket socket;
    char byte = 0;
  };

  void accept() {
    acceptor_.async_accept([this](error_code ec, typename tcp::socket peer) {
      if (ec)
        std::exit(1);
      sessions_.push_back(std::make_unique<session>(std::move(peer)));
      session& s = *sessions_.back();
      s.socket.async_read_some(Net::buffer(&s.byte, 1), [this](error_code end, std::size_t) {
        if (!end)
          std::exit(1);
        ++ended_;
      });
      if (sessions_.size() == first_)
        before_ = bench::resident_memory();
      if (sessions_.size() != connections_)
        return accept();
      bytes_of_each_ = double(bench::resident_memory() - before_) / double(connections_ - first_);
      resting_ = std::thread([this] { rest(); });
    });
  }

  /// Beside the context's thread, which sleeps.
  void rest() {
    const auto before = bench::cpu_time();
    std::this_thread::sleep_for(rest_);
    const std::chrono::duration<double> busy = bench::cpu_time() - before;
    busy_percent_ = 100 * busy / rest_;
    if (::send(sessions_.front()->socket.native_handle(), "", 1, MSG_NOSIGNAL) != 1)
      die("send");
  }

  typename tcp::acceptor acceptor_;
  const std::uint64_t connections_;
  const std::chrono::milliseconds rest_;
  std::thread resting_;
  const std::uint64_t first_ = std::min<std::uint64_t>(100, connections_ / 2);
  std::vector<std::unique_ptr<session>> sessions_;
  std::uint64_t ended_ = 0;
  std::uint64_t before_ = 0;
  double bytes_of_each_ = 0;
  double busy_percent_ = 0;
};

template <class Net>
bench::result run(const parameters& p) {
  // Pages of 2 MiB would hide what is needed.
  ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  const auto context = Net::make_context();
  server<Net> s(*context, p);
  bench::child clients([&, port = s.port()] { return run_clients(port, p); });
  context->run();
  return {
      .operations = p.connections,
      .checksum = s.ended() + clients.result(),
      .figures = {{"per_connection_bytes", s.bytes_of_each()}, {"busy_percent", s.busy_percent()}}};
}

template <class Net>
int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("idle_memory", Net::name, Net::note(), [&] { return run<Net>(p); });
}

}  // namespace idle_memory
