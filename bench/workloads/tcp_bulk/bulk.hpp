// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "harness/child.hpp"
#include "harness/run.hpp"

// Much data over loopback TCP. Each connection brings the server `blocks` blocks of 64 KiB, which
// it reads one by one; then the server writes as many, one by one. Each block carries its number,
// checked by who receives it. An operation is a block. Only the server's processor time counts: the
// clients are a process of their own, with a thread for each connection.
namespace tcp_bulk {

using bench::die;

inline constexpr std::size_t block_size = 65'536;
using block = std::array<char, block_size>;

struct parameters {
  std::uint64_t connections;
  std::uint64_t blocks;

  parameters(int argc, char** argv)
      : connections(bench::option(argc, argv, "--connections", 1)),
        blocks(bench::option(argc, argv, "--blocks", 20'000)) {}
};

inline void number(block& b, std::uint64_t n) {
  std::memcpy(b.data(), &n, sizeof n);
}

/// Checks the number of a block; returns it, to be summed.
inline std::uint64_t check(const block& b, std::uint64_t due) {
  std::uint64_t n = 0;
  std::memcpy(&n, b.data(), sizeof n);
  if (n != due) {
    std::fputs("a block came that was not due\n", stderr);
    std::_Exit(1);
  }
  return n;
}

/// One client: blocking calls.
inline std::uint64_t run_client(std::uint16_t port, std::uint64_t blocks) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    die("connect");
  const auto data = std::make_unique<block>();
  for (std::uint64_t i = 0; i != blocks; ++i) {
    number(*data, i);
    for (std::size_t done = 0; done != block_size;) {
      const ssize_t n = ::send(fd, data->data() + done, block_size - done, MSG_NOSIGNAL);
      if (n < 0)
        die("send");
      done += std::size_t(n);
    }
  }
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i != blocks; ++i) {
    if (::recv(fd, data->data(), block_size, MSG_WAITALL) != ssize_t(block_size))
      die("recv");
    sum += check(*data, i);
  }
  ::close(fd);
  return sum;
}

inline std::uint64_t run_clients(std::uint16_t port, const parameters& p) {
  std::atomic<std::uint64_t> sum{0};
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i != p.connections; ++i)
    threads.emplace_back([&] { sum += run_client(port, p.blocks); });
  for (std::thread& t : threads)
    t.join();
  return sum;
}

/// The server, over a library with Asio's vocabulary.
template <class Net>
class server {
  using context = typename Net::io_context;
  using tcp = typename Net::tcp;
  using error_code = typename Net::error_code;

 public:
  server(context& c, const parameters& p)
      : acceptor_(c, typename tcp::endpoint(Net::loopback(), 0)),
        left_(p.connections),
        blocks_(p.blocks) {
    accept();
  }

  std::uint16_t port() { return acceptor_.local_endpoint().port(); }

  std::uint64_t sum() const {
    std::uint64_t sum = 0;
    for (const auto& s : sessions_)
      sum += s->sum;
    return sum;
  }

 private:
  class session {
   public:
    session(typename tcp::socket s, std::uint64_t blocks) : socket_(std::move(s)), blocks_(blocks) {
      data_.fill('.');
    }

    void read() {
      async_read(socket_, Net::buffer(data_.data(), block_size),
                 [this](error_code ec, std::size_t) {
                   if (ec)
                     std::exit(1);
                   sum += check(data_, done_);
                   if (++done_ != blocks_)
                     return read();
                   done_ = 0;
                   write();
                 });
    }

    std::uint64_t sum = 0;

   private:
    void write() {
      number(data_, done_);
      async_write(socket_, Net::buffer(data_.data(), block_size),
                  [this](error_code ec, std::size_t) {
                    if (ec)
                      std::exit(1);
                    if (++done_ != blocks_)
                      write();
                  });
    }

    typename tcp::socket socket_;
    std::uint64_t blocks_;
    std::uint64_t done_ = 0;
    block data_;
  };

  void accept() {
    acceptor_.async_accept([this](error_code ec, typename tcp::socket s) {
      if (ec)
        std::exit(1);
      sessions_.push_back(std::make_unique<session>(std::move(s), blocks_));
      sessions_.back()->read();
      if (--left_ != 0)
        accept();
    });
  }

  typename tcp::acceptor acceptor_;
  std::uint64_t left_;
  std::uint64_t blocks_;
  std::vector<std::unique_ptr<session>> sessions_;
};

template <class Net>
bench::result run(const parameters& p) {
  const auto context = Net::make_context();
  server<Net> s(*context, p);
  bench::child clients([&, port = s.port()] { return run_clients(port, p); });
  context->run();
  return {.operations = 2 * p.connections * p.blocks, .checksum = s.sum() + clients.result()};
}

template <class Net>
int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("tcp_bulk", Net::name, Net::note(), [&] { return run<Net>(p); });
}

}  // namespace tcp_bulk
