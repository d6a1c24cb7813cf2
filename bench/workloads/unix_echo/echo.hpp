// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "harness/run.hpp"

// Pairs of connected UNIX-domain stream sockets on one thread. One end of each sends a message of
// 64 bytes, the other sends it back, `messages` times each way. Every message carries its number,
// which is checked on both ends and summed.
namespace unix_echo {

inline constexpr std::size_t message_size = 64;

struct parameters {
  std::uint64_t pairs;
  std::uint64_t messages;

  parameters(int argc, char** argv)
      : pairs(bench::option(argc, argv, "--pairs", 100)),
        messages(bench::option(argc, argv, "--messages", 10'000)) {}
};

[[noreturn]] inline void die(const char* what) {
  std::perror(what);
  std::exit(1);
}

/// One end of a pair: what it has still to do, whatever the library.
class peer {
 public:
  using message = std::array<char, message_size>;

  peer(bool starts, std::uint64_t messages) : starts_(starts), left_(messages) {
    data.fill('.');
    if (starts_)
      number(0);
  }

  /// Takes the message received into `data`. True if another is to be sent.
  bool received() {
    std::uint64_t n = 0;
    std::memcpy(&n, data.data(), sizeof n);
    if (n != expected_) {
      std::fprintf(stderr, "message %llu where %llu was due\n", static_cast<unsigned long long>(n),
                   static_cast<unsigned long long>(expected_));
      std::exit(1);
    }
    sum += n;
    ++expected_;
    --left_;
    if (!starts_)
      return true;
    number(expected_);
    return left_ != 0;
  }

  /// Whether, having sent, it waits for another message.
  bool expects() const { return left_ != 0; }
  bool starts() const { return starts_; }

  message data;
  std::uint64_t sum = 0;

 private:
  void number(std::uint64_t n) { std::memcpy(data.data(), &n, sizeof n); }

  bool starts_;
  std::uint64_t left_;
  std::uint64_t expected_ = 0;
};

/// The total over both ends of all pairs.
template <class Peers>
bench::result total(const parameters& p, const Peers& peers) {
  bench::result r{.operations = p.pairs * p.messages * 2, .checksum = 0};
  for (const auto& one : peers)
    r.checksum += one->sum;
  return r;
}

/// A session over a library with Asio's vocabulary: `Net` names its context, its socket and
/// `buffer`; the rest is found by argument.
template <class Net>
class session : public peer {
 public:
  session(typename Net::socket socket, bool starts, std::uint64_t messages)
      : peer(starts, messages), socket_(std::move(socket)) {}

  void start() { starts() ? write() : read(); }

 private:
  using error_code = typename Net::error_code;

  void read() {
    async_read(socket_, Net::buffer(data), [this](error_code ec, std::size_t) {
      if (ec)
        std::exit(1);
      if (received())
        write();
    });
  }
  void write() {
    async_write(socket_, Net::buffer(data), [this](error_code ec, std::size_t) {
      if (ec)
        std::exit(1);
      if (expects())
        read();
    });
  }

  typename Net::socket socket_;
};

template <class Net>
bench::result run(typename Net::io_context& context, const parameters& p) {
  std::vector<std::unique_ptr<session<Net>>> sessions;
  for (std::uint64_t i = 0; i < p.pairs; ++i) {
    typename Net::socket a(context), b(context);
    Net::connect_pair(a, b);
    sessions.push_back(std::make_unique<session<Net>>(std::move(a), true, p.messages));
    sessions.push_back(std::make_unique<session<Net>>(std::move(b), false, p.messages));
  }
  for (auto& s : sessions)
    s->start();
  context.run();
  return total(p, sessions);
}

/// Descriptors of connected pairs, for the loops without a library.
inline std::array<int, 2> make_pair(int type) {
  std::array<int, 2> fds;
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | type, 0, fds.data()) != 0)
    die("socketpair");
  return fds;
}

}  // namespace unix_echo
