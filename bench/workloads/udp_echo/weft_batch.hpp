// SPDX-License-Identifier: BSL-1.0
#pragma once

#include "echo.hpp"
#include "harness/weft_sockets.hpp"

namespace udp_echo {

/// A server that receives what there is, and sends it back, by an operation each.
class batch_server {
 public:
  batch_server(weft::io_context& c, const parameters& p)
      : socket_(c, weft::ip::udp::endpoint(weft::ip::address_v4::loopback(), 0)),
        left_(p.datagrams()),
        data_(p.window),
        in_(p.window),
        out_(p.window) {
    for (std::size_t i = 0; i != in_.size(); ++i)
      in_[i].buffer = weft::buffer(data_[i]);
    receive();
  }

  std::uint16_t port() { return socket_.local_endpoint().port(); }

 private:
  void receive() {
    socket_.async_receive_batch(in_, [this](weft::error_code ec, std::size_t n) {
      if (ec)
        std::exit(1);
      send(n);
    });
  }
  void send(std::size_t count) {
    for (std::size_t i = 0; i != count; ++i)
      out_[i] = {in_[i].received(), &in_[i].sender};
    socket_.async_send_batch(std::span(out_).first(count),
                             [this](weft::error_code ec, std::size_t n) {
                               if (ec)
                                 std::exit(1);
                               left_ -= n;
                               if (left_ != 0)
                                 receive();
                             });
  }

  weft::ip::udp::socket socket_;
  std::uint64_t left_;
  std::vector<message> data_;
  std::vector<weft::ip::udp::socket::incoming_datagram> in_;
  std::vector<weft::ip::udp::socket::outgoing_datagram> out_;
};

template <class Net>
int batch_main(int argc, char** argv, const char* name) {
  const parameters p(argc, argv);
  return bench::measure("udp_echo", name, Net::note(), [&]() -> bench::result {
    const auto context = Net::make_context();
    batch_server s(*context, p);
    bench::child client([&, port = s.port()] { return run_client(port, p); });
    context->run();
    return {.operations = p.datagrams(), .checksum = client.result()};
  });
}

}  // namespace udp_echo
