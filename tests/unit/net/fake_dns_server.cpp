// SPDX-License-Identifier: BSL-1.0
#include "unit/net/fake_dns_server.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

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

int bind_loopback(std::uint16_t& port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* native_address = reinterpret_cast<sockaddr*>(&address);
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::bind(fd, native_address, size) != 0 ||
      ::getsockname(fd, native_address, &size) != 0)
    throw std::runtime_error("no UDP socket on the loopback address");
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

refusing_dns_server::refusing_dns_server() : fd_(bind_loopback(port_)) {
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
    : records_(std::move(records)), fd_(bind_loopback(port_)) {
  if (::pipe(stop_) != 0)
    throw std::runtime_error("fake_dns_server: no pipe");
  thread_ = std::thread([this] { serve(); });
}

fake_dns_server::~fake_dns_server() {
  ::close(stop_[1]);
  thread_.join();
  ::close(stop_[0]);
  ::close(fd_);
}

std::string fake_dns_server::address() const {
  return loopback(port_);
}

void fake_dns_server::serve() {
  while (true) {
    pollfd ready[2] = {{fd_, POLLIN, 0}, {stop_[0], POLLIN, 0}};
    ::poll(ready, 2, -1);
    if (ready[1].revents != 0)
      return;
    char buffer[512];
    sockaddr_in from{};
    socklen_t size = sizeof(from);
    auto* native_from = reinterpret_cast<sockaddr*>(&from);
    const ssize_t n = ::recvfrom(fd_, buffer, sizeof(buffer), MSG_DONTWAIT, native_from, &size);
    if (n < static_cast<ssize_t>(header_size))
      continue;
    ++questions_;
    const std::string reply = answer(std::string(buffer, static_cast<std::size_t>(n)));
    if (!reply.empty())
      ::sendto(fd_, reply.data(), reply.size(), 0, native_from, size);
  }
}

std::string fake_dns_server::answer(const std::string& question) const {
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
  const record missing{{}, {}, {}, {}, 3, false};
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
  std::string reply = question.substr(0, 2);
  put16(reply, 0x8180 | entry.rcode);  // a response, recursion desired and available
  put16(reply, 1);
  put16(reply, count);
  put16(reply, 0);
  put16(reply, 0);
  return reply + question.substr(header_size, end - header_size) + records;
}

}  // namespace weft_test
