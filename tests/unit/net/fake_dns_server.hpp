// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace weft_test {

/// A name server on a port of the loopback address, for names that a test tells it.
class fake_dns_server {
 public:
  struct record {
    std::vector<std::string> v4{};  ///< Addresses for A questions.
    std::vector<std::string> v6{};  ///< Addresses for AAAA questions.
    std::string alias_of{};         ///< A CNAME in front of the addresses.
    std::string pointer{};          ///< The name for PTR questions.
    int rcode = 0;                  ///< What the answer's header says; 2 is SERVFAIL.
    bool silent = false;            ///< Never answers.
    bool too_long = false;          ///< Answers by TCP; by UDP it only says so.
    bool nonsense = false;          ///< Announces records that are not there.
  };

  /// Names are in lower case; those that are not there do not exist (NXDOMAIN).
  explicit fake_dns_server(std::map<std::string, record> records);
  fake_dns_server(const fake_dns_server&) = delete;
  ~fake_dns_server();

  /// "127.0.0.1:port"
  std::string address() const;
  /// How many questions have arrived.
  int questions() const { return questions_; }

 private:
  struct connection {
    int fd;
    std::string received;
  };

  void serve();
  void serve_udp();
  bool serve_tcp(connection& c);
  std::string answer(const std::string& question, bool by_tcp) const;

  std::map<std::string, record> records_;
  std::uint16_t port_ = 0;
  int listener_;
  int fd_;
  int stop_[2];
  std::atomic<int> questions_{0};
  std::thread thread_;
};

/// A UDP port of the loopback address that refuses every datagram.
class refusing_dns_server {
 public:
  refusing_dns_server();
  refusing_dns_server(const refusing_dns_server&) = delete;
  ~refusing_dns_server();

  /// "127.0.0.1:port"
  std::string address() const;

 private:
  std::uint16_t port_ = 0;
  int fd_;
};

}  // namespace weft_test
