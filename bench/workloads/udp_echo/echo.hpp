// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cstring>
#include <vector>

#include "harness/child.hpp"
#include "harness/run.hpp"

// Datagrams of 64 bytes, sent back to where they came from. The client, a process of its own,
// sends `window` of them with one call and waits until all have come back; none is ever lost, for
// a window fits into the sockets' buffers. Each carries its number, which the client checks and
// sums. An operation is a datagram received and sent back; only the server's processor time counts.
namespace udp_echo {

using bench::die;

inline constexpr std::size_t message_size = 64;
using message = std::array<char, message_size>;

struct parameters {
  std::uint64_t window;
  std::uint64_t windows;

  parameters(int argc, char** argv)
      : window(bench::option(argc, argv, "--window", 64)),
        windows(bench::option(argc, argv, "--windows", 10'000)) {}

  std::uint64_t datagrams() const { return window * windows; }
};

/// Headers for many datagrams in one call; of its own memory, with room for an address each.
class batch {
 public:
  explicit batch(std::size_t size) : data_(size), addresses_(size), vectors_(size), headers_(size) {
    for (std::size_t i = 0; i != size; ++i) {
      vectors_[i] = {data_[i].data(), message_size};
      headers_[i].msg_hdr.msg_iov = &vectors_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  message& operator[](std::size_t i) { return data_[i]; }
  mmsghdr* headers() { return headers_.data(); }
  unsigned size() const { return unsigned(headers_.size()); }

  /// Has headers that receive or send take note of addresses.
  void with_addresses() {
    for (std::size_t i = 0; i != headers_.size(); ++i) {
      headers_[i].msg_hdr.msg_name = &addresses_[i];
      headers_[i].msg_hdr.msg_namelen = sizeof addresses_[i];
    }
  }

 private:
  std::vector<message> data_;
  std::vector<sockaddr_in> addresses_;
  std::vector<iovec> vectors_;
  std::vector<mmsghdr> headers_;
};

inline std::uint64_t run_client(std::uint16_t port, const parameters& p) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    die("connect");
  batch messages(p.window);
  std::uint64_t sum = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  while (received != p.datagrams()) {
    for (std::size_t i = 0; i != p.window; ++i, ++sent)
      std::memcpy(messages[i].data(), &sent, sizeof sent);
    for (unsigned i = 0; i != messages.size();) {
      const int n = ::sendmmsg(fd, messages.headers() + i, messages.size() - i, 0);
      if (n <= 0)
        die("sendmmsg");
      i += unsigned(n);
    }
    while (received != sent) {
      const int n =
          ::recvmmsg(fd, messages.headers(), unsigned(sent - received), MSG_WAITFORONE, nullptr);
      if (n <= 0)
        die("a datagram was lost: recvmmsg");
      for (int i = 0; i != n; ++i, ++received) {
        std::uint64_t number = 0;
        std::memcpy(&number, messages[std::size_t(i)].data(), sizeof number);
        if (number != received || messages.headers()[i].msg_len != message_size) {
          std::fputs("a datagram came back that was not due\n", stderr);
          std::_Exit(1);
        }
        sum += number;
      }
    }
  }
  ::close(fd);
  return sum;
}

/// The server, over a library with Asio's vocabulary: an operation for each datagram.
template <class Net>
class server {
  using udp = typename Net::udp;
  using error_code = typename Net::error_code;

 public:
  server(typename Net::io_context& c, std::uint64_t datagrams)
      : socket_(c, typename udp::endpoint(Net::loopback(), 0)), left_(datagrams) {
    receive();
  }

  std::uint16_t port() { return socket_.local_endpoint().port(); }

 private:
  void receive() {
    socket_.async_receive_from(Net::buffer(data_.data(), data_.size()), sender_,
                               [this](error_code ec, std::size_t n) {
                                 if (ec)
                                   std::exit(1);
                                 send(n);
                               });
  }
  void send(std::size_t n) {
    socket_.async_send_to(Net::buffer(data_.data(), n), sender_,
                          [this](error_code ec, std::size_t) {
                            if (ec)
                              std::exit(1);
                            if (--left_ != 0)
                              receive();
                          });
  }

  typename udp::socket socket_;
  typename udp::endpoint sender_;
  std::uint64_t left_;
  message data_;
};

template <class Net>
bench::result run(const parameters& p) {
  const auto context = Net::make_context();
  server<Net> s(*context, p.datagrams());
  bench::child client([&, port = s.port()] { return run_client(port, p); });
  context->run();
  return {.operations = p.datagrams(), .checksum = client.result()};
}

template <class Net>
int main(int argc, char** argv) {
  const parameters p(argc, argv);
  return bench::measure("udp_echo", Net::name, Net::note(), [&] { return run<Net>(p); });
}

}  // namespace udp_echo
