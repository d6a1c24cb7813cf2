// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "clients.hpp"

// A TCP echo server over the loopback interface. The server is what is measured: its clients, the
// same for every implementation, run in a process of their own. Each connection sends a message of
// 64 bytes, waits until all of it has come back, checks its number, and sends the next.
namespace tcp_echo {

/// The buffer of one connection on the server.
using block = std::array<char, 4096>;

/// A server over a library with Asio's vocabulary: `Net` names its context, its TCP and its error
/// code, and makes a buffer; the rest is found by argument.
template <class Net>
class server {
  using context = typename Net::io_context;
  using tcp = typename Net::tcp;
  using error_code = typename Net::error_code;

 public:
  server(context& c, std::uint64_t connections)
      : acceptor_(c, typename tcp::endpoint(tcp::v4(), 0)), left_(connections) {
    accept();
  }

  std::uint16_t port() { return acceptor_.local_endpoint().port(); }

 private:
  class session {
   public:
    explicit session(typename tcp::socket s) : socket_(std::move(s)) {
      socket_.set_option(typename tcp::no_delay(true));
    }

    void read() {
      socket_.async_read_some(Net::buffer(data_, data_.size()),
                              [this](error_code ec, std::size_t n) {
                                if (!ec)
                                  write(n);
                              });
    }

   private:
    void write(std::size_t n) {
      async_write(socket_, Net::buffer(data_, n), [this](error_code ec, std::size_t) {
        if (!ec)
          read();
      });
    }

    typename tcp::socket socket_;
    block data_;
  };

  void accept() {
    acceptor_.async_accept([this](error_code ec, typename tcp::socket s) {
      if (ec)
        std::exit(1);
      sessions_.push_back(std::make_unique<session>(std::move(s)));
      sessions_.back()->read();
      if (--left_ != 0)
        accept();
    });
  }

  typename tcp::acceptor acceptor_;
  std::uint64_t left_;
  std::vector<std::unique_ptr<session>> sessions_;
};

/// Serves until the last client has closed its connection.
template <class Net>
bench::result run(typename Net::io_context& context, const parameters& p) {
  server<Net> s(context, p.connections);
  clients c(p, s.port());
  std::vector<std::thread> threads;
  for (std::uint64_t i = 1; i < p.threads; ++i)
    threads.emplace_back([&] { context.run(); });
  context.run();
  for (std::thread& t : threads)
    t.join();
  return c.result();
}

}  // namespace tcp_echo
