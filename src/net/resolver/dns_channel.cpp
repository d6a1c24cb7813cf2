// SPDX-License-Identifier: BSL-1.0
#include "net/resolver/dns_channel.hpp"

#include <cerrno>

#include <ares.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <weft/base/error.hpp>

namespace WEFT_NAMESPACE::detail {
namespace {

/// c-ares keeps a state of its own for the process, to be set up once before any channel.
int library_status() noexcept {
  static const int status = ::ares_library_init(ARES_LIB_INIT_ALL);
  return status;
}

error_code setup_error(int status) noexcept {
  switch (status) {
    case ARES_SUCCESS: return {};
    case ARES_ENOMEM: return error::no_memory;
    case ARES_EBADSTR: return error::invalid_argument;
    case ARES_EFILE: return errno_code(errno);
    default: return error::no_recovery;
  }
}

int connect_socket(int fd, const sockaddr* address, ares_socklen_t size, void*) noexcept {
  return ::connect(fd, address, size);
}
ares_ssize_t receive(int fd, void* data, std::size_t size, int flags, sockaddr* address,
                     ares_socklen_t* address_size, void*) noexcept {
  return ::recvfrom(fd, data, size, flags, address, address_size);
}
ares_ssize_t send(int fd, const iovec* data, int count, void*) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(data);
  message.msg_iovlen = static_cast<std::size_t>(count);
  ares_ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  // The refusal of an earlier datagram, reported here, would be lost to the question that was in
  // it. So this one is sent as well: its refusal reaches `receive`, which fails them all.
  if (sent < 0 && errno == ECONNREFUSED)
    sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  return sent;
}

}  // namespace

error_code dns_channel::open(const ip::resolver_options& options, socket_changed changed,
                             socket_close close_socket, void* user) noexcept {
  if (const int status = library_status(); status != ARES_SUCCESS)
    return setup_error(status);
  changed_ = changed;
  close_ = close_socket;
  user_ = user;
  ares_options native{};
  int mask = ARES_OPT_SOCK_STATE_CB;
  native.sock_state_cb = &on_socket_state;
  native.sock_state_cb_data = this;
  if (options.timeout.count() > 0) {
    native.timeout = static_cast<int>(options.timeout.count());
    mask |= ARES_OPT_TIMEOUTMS;
  }
  if (options.tries > 0) {
    native.tries = options.tries;
    mask |= ARES_OPT_TRIES;
  }
  if (!options.lookups.empty()) {
    native.lookups = const_cast<char*>(options.lookups.c_str());
    mask |= ARES_OPT_LOOKUPS;
  }
  int status = ::ares_init_options(&channel_, &native, mask);
  if (status != ARES_SUCCESS) {
    channel_ = nullptr;
    return setup_error(status);
  }
  ::ares_set_socket_functions(channel_, &socket_functions(), this);
  if (!options.servers.empty()) {
    status = ::ares_set_servers_ports_csv(channel_, options.servers.c_str());
    if (status != ARES_SUCCESS) {
      close();
      return setup_error(status);
    }
  }
  return {};
}

void dns_channel::close() noexcept {
  if (channel_ != nullptr)
    ::ares_destroy(channel_);
  channel_ = nullptr;
}

void dns_channel::process(int readable, int writable) noexcept {
  ::ares_process_fd(channel_, readable < 0 ? ARES_SOCKET_BAD : readable,
                    writable < 0 ? ARES_SOCKET_BAD : writable);
}

int dns_channel::timeout_ms() const noexcept {
  timeval value{};
  if (channel_ == nullptr || ::ares_timeout(channel_, nullptr, &value) == nullptr)
    return -1;
  // Rounded up: `process` a moment too early would find nothing to do, and spin.
  return static_cast<int>(value.tv_sec * 1000 + (value.tv_usec + 999) / 1000);
}

void dns_channel::on_socket_state(void* self, int fd, int read, int write) noexcept {
  const auto& channel = *static_cast<dns_channel*>(self);
  channel.changed_(channel.user_, fd, read != 0, write != 0);
}

int dns_channel::open_socket(int domain, int type, int protocol, void* self) noexcept {
  const int fd = ::socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
  static_cast<dns_channel*>(self)->socket_error_ = fd < 0 ? errno_code(errno) : error_code();
  return fd;
}

int dns_channel::on_close(int fd, void* self) noexcept {
  const auto& channel = *static_cast<dns_channel*>(self);
  channel.close_(channel.user_, fd);
  return 0;
}

const ares_socket_functions& dns_channel::socket_functions() noexcept {
  static constexpr ares_socket_functions functions{&open_socket, &on_close, &connect_socket,
                                                   &receive, &send};
  return functions;
}

}  // namespace WEFT_NAMESPACE::detail
