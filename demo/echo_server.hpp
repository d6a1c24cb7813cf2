// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <array>
#include <memory>
#include <utility>

#include <weft.hpp>

namespace demo {

/// Sends back what comes, on each connection of one listening socket. Destroy it only when its
/// context no longer runs.
template <class Protocol>
class stream_echo_server {
 public:
  stream_echo_server(weft::io_context& context, const typename Protocol::endpoint& endpoint)
      : acceptor_(context, endpoint) {
    accept();
  }

  typename Protocol::endpoint local_endpoint() const { return acceptor_.local_endpoint(); }

 private:
  class connection : public std::enable_shared_from_this<connection> {
   public:
    explicit connection(typename Protocol::socket socket) : socket_(std::move(socket)) {}

    void read() {
      socket_.async_read_some(weft::buffer(data_), [self = this->shared_from_this()](
                                                       weft::error_code ec, std::size_t n) {
        if (!ec)
          self->write(n);
      });
    }

   private:
    void write(std::size_t n) {
      weft::async_write(socket_, weft::buffer(data_, n),
                        [self = this->shared_from_this()](weft::error_code ec, std::size_t) {
                          if (!ec)
                            self->read();
                        });
    }

    typename Protocol::socket socket_;
    std::array<char, 16 * 1024> data_;
  };

  void accept() {
    acceptor_.async_accept([this](weft::error_code ec, typename Protocol::socket socket) {
      if (!ec)
        std::make_shared<connection>(std::move(socket))->read();
      // At the descriptor limit the next accept waits a little, so this never spins.
      if (ec != weft::error::operation_aborted)
        accept();
    });
  }

  typename Protocol::acceptor acceptor_;
};

/// Sends each datagram back to where it came from.
class datagram_echo_server {
 public:
  datagram_echo_server(weft::io_context& context, const weft::ip::udp::endpoint& endpoint)
      : socket_(context, endpoint) {
    receive();
  }

  weft::ip::udp::endpoint local_endpoint() const { return socket_.local_endpoint(); }

 private:
  void receive() {
    socket_.async_receive_from(weft::buffer(data_), sender_,
                               [this](weft::error_code ec, std::size_t n) {
                                 if (ec == weft::error::operation_aborted)
                                   return;
                                 // Anything else concerns one datagram (a port unreachable, say).
                                 ec ? receive() : send(n);
                               });
  }

  void send(std::size_t n) {
    socket_.async_send_to(weft::buffer(data_, n), sender_,
                          [this](weft::error_code ec, std::size_t) {
                            if (ec != weft::error::operation_aborted)
                              receive();
                          });
  }

  weft::ip::udp::socket socket_;
  weft::ip::udp::endpoint sender_;
  std::array<char, 64 * 1024> data_;
};

}  // namespace demo
