// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <weft.hpp>

#include "latency.hpp"

namespace demo {

/// What all clients of one run have seen. The counters are read by the progress line while they
/// run; the histogram and the text belong to the clients' thread.
struct tally {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> errors{0};
  std::atomic<bool> finishing{false};  // no client starts another message
  latency_histogram latency;
  std::string first_error;

  void fail(const std::string& what) {
    errors.fetch_add(1, std::memory_order_relaxed);
    if (first_error.empty())
      first_error = what;
  }
};

/// One message at a time: its bytes depend on the client, the message and the place, so that a
/// byte lost, doubled or swapped between clients is seen.
class exchange {
 public:
  static constexpr std::size_t largest = 1400;

  exchange(unsigned client, tally& results) : client_(client), results_(results) {}

  bool next() {
    if (results_.finishing.load(std::memory_order_relaxed))
      return false;
    ++number_;
    size_ = 1 + (client_ * 131u + number_ * 37u) % largest;
    for (std::size_t i = 0; i < size_; ++i)
      sent_[i] = static_cast<unsigned char>(client_ * 7u + number_ * 13u + i);
    started_ = std::chrono::steady_clock::now();
    return true;
  }

  /// Takes the echo of `n` bytes; false if it is not what was sent.
  bool finish(std::size_t n) {
    if (n != size_ || std::memcmp(sent_.data(), received_.data(), n) != 0) {
      results_.fail("the echo differs from what was sent");
      return false;
    }
    results_.latency.add(std::chrono::steady_clock::now() - started_);
    results_.messages.fetch_add(1, std::memory_order_relaxed);
    return true;
  }

  void fail(const char* where, const weft::error_code& ec) {
    results_.fail(std::string(where) + ": " + ec.message());
  }

  auto to_send() const { return weft::buffer(sent_.data(), size_); }
  auto to_fill() { return weft::buffer(received_.data(), size_); }
  auto whole_buffer() { return weft::buffer(received_); }

 private:
  unsigned client_;
  tally& results_;
  unsigned number_ = 0;
  std::size_t size_ = 0;
  std::chrono::steady_clock::time_point started_;
  std::array<unsigned char, largest> sent_;
  std::array<unsigned char, largest + 1> received_;
};

template <class Protocol>
class stream_client : public std::enable_shared_from_this<stream_client<Protocol>> {
 public:
  stream_client(weft::io_context& context, unsigned client, tally& results)
      : socket_(context), exchange_(client, results) {}

  void start(const typename Protocol::endpoint& server) {
    socket_.async_connect(server, [self = this->shared_from_this()](weft::error_code ec) {
      if (ec)
        self->exchange_.fail("connect", ec);
      else
        self->send();
    });
  }

 private:
  void send() {
    if (!exchange_.next())
      return;
    weft::async_write(socket_, exchange_.to_send(),
                      [self = this->shared_from_this()](weft::error_code ec, std::size_t) {
                        if (ec)
                          self->exchange_.fail("write", ec);
                        else
                          self->receive();
                      });
  }

  void receive() {
    weft::async_read(socket_, exchange_.to_fill(),
                     [self = this->shared_from_this()](weft::error_code ec, std::size_t n) {
                       if (ec)
                         self->exchange_.fail("read", ec);
                       else if (self->exchange_.finish(n))
                         self->send();
                     });
  }

  typename Protocol::socket socket_;
  exchange exchange_;
};

/// A datagram may be lost: a reply that has not come within a second is counted as an error, and
/// the next message is sent.
class datagram_client : public std::enable_shared_from_this<datagram_client> {
 public:
  datagram_client(weft::io_context& context, unsigned client, tally& results)
      : socket_(context, weft::ip::udp::v4()), exchange_(client, results) {}

  void start(const weft::ip::udp::endpoint& server) {
    weft::error_code ec;
    socket_.connect(server, ec);
    if (ec)
      exchange_.fail("connect", ec);
    else
      send();
  }

 private:
  void send() {
    if (!exchange_.next())
      return;
    socket_.async_send(exchange_.to_send(),
                       [self = shared_from_this()](weft::error_code ec, std::size_t) {
                         if (ec)
                           self->exchange_.fail("send", ec);
                         else
                           self->receive();
                       });
  }

  void receive() {
    socket_.async_receive(
        exchange_.whole_buffer(),
        weft::cancel_after(std::chrono::seconds(1),
                           [self = shared_from_this()](weft::error_code ec, std::size_t n) {
                             if (ec)
                               self->exchange_.fail("receive", ec);
                             else
                               self->exchange_.finish(n);
                             self->send();
                           }));
  }

  weft::ip::udp::socket socket_;
  exchange exchange_;
};

}  // namespace demo
