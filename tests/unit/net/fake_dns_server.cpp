// SPDX-License-Identifier: BSL-1.0
#include "unit/net/fake_dns_server.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace weft_test {
namespace {

// RFC 1035: a header of 12 bytes, then the question.
constexpr std::size_t header_size = 12;
constexpr int type_a = 1, type_cname = 5, type_ptr = 12, type_aaaa = 28;

void put16(std::string& out, int value) {
  out += static_cast<char>(value >> 8);
  out += static_cast<char>(value & 0xFF);
}

void put_name(std::string& out, std::string_view name) {
  while (!name.empty()) {
    const std::size_t dot = std::min(name.find('.'), name.size());
    out += static_cast<char>(dot);
    out += name.substr(0, dot);
    name.remove_prefix(std::min(dot + 1, name.size()));
  }
  out += '\0';
}

void put_record(std::string& out, std::string_view owner, int type, const std::string& data) {
  put_name(out, owner);
  put16(out, type);
  put16(out, 1);  // class IN
  put16(out, 0);  // time to live
  put16(out, 60);
  put16(out, static_cast<int>(data.size()));
  out += data;
}

std::string native(int family, const std::string& address) {
  char bytes[16];
  if (::inet_pton(family, address.c_str(), bytes) != 1)
    throw std::invalid_argument(address);
  return {bytes, family == AF_INET ? 4u : 16u};
}

std::string loopback(std::uint16_t port) {
  return "127.0.0.1:" + std::to_string(port);
}

/// A socket bound to the loopback address, or -1; `port` 0 is replaced by the one chosen.
int bind_loopback(int type, std::uint16_t& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t size = sizeof(address);
  auto* native_address = reinterpret_cast<sockaddr*>(&address);
  const int fd = ::socket(AF_INET, type | SOCK_CLOEXEC, 0);
  if (fd < 0)
    throw std::runtime_error("no socket");
  if (::bind(fd, native_address, size) != 0 || ::getsockname(fd, native_address, &size) != 0) {
    ::close(fd);
    return -1;
  }
  port = ntohs(address.sin_port);
  return fd;
}

/// A UDP socket on the port that a TCP socket was given.
int bind_same_port(int& listener, std::uint16_t& port) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    port = 0;
    listener = bind_loopback(SOCK_STREAM, port);
    const int fd = listener < 0 ? -1 : bind_loopback(SOCK_DGRAM, port);
    if (fd >= 0 && ::listen(listener, 16) == 0)
      return fd;
    ::close(listener);
    ::close(fd);
  }
  throw std::runtime_error("no port that is free for both TCP and UDP");
}

}  // namespace

refusing_dns_server::refusing_dns_server() : fd_(bind_loopback(SOCK_DGRAM, port_)) {
  // A connected socket keeps the port, and takes nothing from anybody but its peer: itself.
  sockaddr_in self{};
  socklen_t size = sizeof(self);
  auto* native_self = reinterpret_cast<sockaddr*>(&self);
  if (::getsockname(fd_, native_self, &size) != 0 || ::connect(fd_, native_self, size) != 0)
    throw std::runtime_error("refusing_dns_server: cannot connect");
}

refusing_dns_server::~refusing_dns_server() {
  ::close(fd_);
}

std::string refusing_dns_server::address() const {
  return loopback(port_);
}

fake_dns_server::fake_dns_server(std::map<std::string, record> records)
    : records_(std::move(records)), fd_(bind_same_port(listener_, port_)) {
  if (::pipe(stop_) != 0)
    throw std::runtime_error("fake_dns_server: no pipe");
  thread_ = std::thread([this] { serve(); });
}

fake_dns_server::~fake_dns_server() {
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
  ::close(listener_);
  ::close(fd_);
}

std::string fake_dns_server::address() const {
  return loopback(port_);
}

void fake_dns_server::serve() {
  std::vector<connection> connections;
  while (true) {
    std::vector<pollfd> ready{{stop_[0], POLLIN, 0}, {fd_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const connection& c : connections)
      ready.push_back({c.fd, POLLIN, 0});
    ::poll(ready.data(), ready.size(), -1);
    if (ready[0].revents != 0)
      break;
    if (ready[1].revents != 0)
      serve_udp();
    for (std::size_t i = 0; i < connections.size(); ++i)
      if (ready[3 + i].revents != 0 && !serve_tcp(connections[i])) {
        ::close(connections[i].fd);
        connections[i].fd = -1;
      }
    std::erase_if(connections, [](const connection& c) { return c.fd < 0; });
    if (ready[2].revents != 0)
      connections.push_back({::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC), {}});
  }
  for (const connection& c : connections)
    ::close(c.fd);
}

void fake_dns_server::serve_udp() {
  char buffer[512];
  sockaddr_in from{};
  socklen_t size = sizeof(from);
  auto* native_from = reinterpret_cast<sockaddr*>(&from);
  const ssize_t n = ::recvfrom(fd_, buffer, sizeof(buffer), MSG_DONTWAIT, native_from, &size);
  if (n < static_cast<ssize_t>(header_size))
    return;
  ++questions_;
  const std::string reply = answer(std::string(buffer, static_cast<std::size_t>(n)), false);
  if (!reply.empty())
    ::sendto(fd_, reply.data(), reply.size(), 0, native_from, size);
}

/// Takes what has arrived and answers the questions that are complete; false at the end.
bool fake_dns_server::serve_tcp(connection& c) {
  char buffer[512];
  const ssize_t n = ::recv(c.fd, buffer, sizeof(buffer), MSG_DONTWAIT);
  if (n <= 0)
    return false;
  c.received.append(buffer, static_cast<std::size_t>(n));
  while (c.received.size() >= 2) {
    // Each message is preceded by its length (RFC 1035, section 4.2.2).
    const std::size_t length =
        static_cast<std::size_t>(static_cast<unsigned char>(c.received[0])) * 256 +
        static_cast<unsigned char>(c.received[1]);
    if (c.received.size() < 2 + length)
      break;
    ++questions_;
    const std::string reply = answer(c.received.substr(2, length), true);
    c.received.erase(0, 2 + length);
    std::string framed;
    put16(framed, static_cast<int>(reply.size()));
    framed += reply;
    if (!reply.empty() && ::send(c.fd, framed.data(), framed.size(), MSG_NOSIGNAL) < 0)
      return false;
  }
  return true;
}

std::string fake_dns_server::answer(const std::string& question, bool by_tcp) const {
  std::string name;
  std::size_t at = header_size;
  while (at < question.size() && question[at] != 0) {
    const auto length = static_cast<unsigned char>(question[at]);
    name += (name.empty() ? "" : ".") + question.substr(at + 1, length);
    at += length + 1u;
  }
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t end = at + 5;
  if (end > question.size())
    return {};
  const int type = static_cast<unsigned char>(question[at + 2]);

  const auto found = records_.find(name);
  record missing;
  missing.rcode = 3;
  const record& entry = found == records_.end() ? missing : found->second;
  if (entry.silent)
    return {};
  std::string records;
  int count = 0;
  std::string owner = name;
  if (!entry.alias_of.empty() && (type == type_a || type == type_aaaa)) {
    std::string target;
    put_name(target, entry.alias_of);
    put_record(records, owner, type_cname, target);
    owner = entry.alias_of;
    ++count;
  }
  const bool is_v4 = type == type_a;
  if (is_v4 || type == type_aaaa)
    for (const std::string& address : is_v4 ? entry.v4 : entry.v6) {
      put_record(records, owner, type, native(is_v4 ? AF_INET : AF_INET6, address));
      ++count;
    }
  if (type == type_ptr && !entry.pointer.empty()) {
    std::string target;
    put_name(target, entry.pointer);
    put_record(records, owner, type_ptr, target);
    ++count;
  }
  const bool cut = entry.too_long && !by_tcp;
  if (cut || entry.nonsense) {
    records.clear();
    count = entry.nonsense ? 3 : 0;
  }
  constexpr int response = 0x8180;  // with recursion desired and available
  constexpr int truncated = 0x0200;
  std::string reply = question.substr(0, 2);
  put16(reply, response | (cut ? truncated : 0) | entry.rcode);
  put16(reply, 1);
  put16(reply, count);
  put16(reply, 0);
  put16(reply, 0);
  return reply + question.substr(header_size, end - header_size) + records;
}

}  // namespace weft_test
