// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/context/io_context.hpp>
#include <weft/context/thread_pool.hpp>
#include <weft/io/buffer.hpp>
#include <weft/net/basic_datagram_socket.hpp>
#include <weft/net/basic_socket_acceptor.hpp>
#include <weft/net/basic_stream_socket.hpp>
#include <weft/net/connect_pair.hpp>
#include <weft/net/tcp_protocol.hpp>
#include <weft/net/udp_protocol.hpp>

#include "support/backend.hpp"

namespace weft_test {

using weft::buffer;
using weft::error_code;
using tcp = weft::ip::tcp;
using udp = weft::ip::udp;
using unix_stream = weft::local::stream_protocol;

/// A handler that keeps its results and counts its calls.
template <class... Results>
struct outcome {
  std::optional<std::tuple<Results...>> results;
  int calls = 0;

  auto handler() {
    return [this](Results... r) {
      ++calls;
      results.emplace(std::move(r)...);
    };
  }
  bool done() const { return calls == 1; }
  error_code ec() const {
    EXPECT_EQ(calls, 1);
    return results ? std::get<0>(*results) : error_code(weft::error::in_progress);
  }
  std::size_t bytes() const { return results ? std::get<1>(*results) : 0; }
};
using status = outcome<error_code>;
using transfer = outcome<error_code, std::size_t>;

/// Sockets on one context per test, once on each backend.
class socket_test : public backend_test {
 protected:
  /// Runs until nothing is pending any more.
  void run() {
    context.restart();
    context.run();
  }
  /// Runs until `o` is done.
  template <class... R>
  void run_until_done(const outcome<R...>& o) {
    context.restart();
    while (o.calls == 0 && context.run_one() != 0) {}
  }

  tcp::endpoint loopback(std::uint16_t port = 0) {
    return {weft::ip::address_v4::loopback(), port};
  }

  std::pair<tcp::socket, tcp::socket> tcp_pair() {
    tcp::acceptor acceptor(context, loopback());
    tcp::socket client(context);
    client.connect(acceptor.local_endpoint());
    tcp::socket server = acceptor.accept();
    return {std::move(client), std::move(server)};
  }

  std::pair<unix_stream::socket, unix_stream::socket> unix_pair() {
    std::pair<unix_stream::socket, unix_stream::socket> pair{context, context};
    weft::local::connect_pair(pair.first, pair.second);
    return pair;
  }

  /// A port of the loopback address on which nobody listens, nor will.
  tcp::endpoint refused_endpoint() {
    return silent_.emplace_back(context, loopback()).local_endpoint();
  }

  /// A socket on which nobody hears what is sent to it: the sender is told.
  udp::socket refusing_socket() {
    udp::socket s(context, udp::endpoint(weft::ip::address_v4::loopback(), 0));
    s.connect(s.local_endpoint());
    return s;
  }

 private:
  std::vector<tcp::socket> silent_;
};

}  // namespace weft_test
