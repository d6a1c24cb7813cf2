// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/base/error_code.hpp>
#include <weft/net/resolver_options.hpp>

struct ares_channeldata;
struct ares_socket_functions;

namespace WEFT_NAMESPACE::detail {

/// Owns a c-ares channel, whose sockets are made close-on-exec and never raise SIGPIPE.
class dns_channel {
 public:
  /// Told what a socket waits for; both false before it is closed.
  using socket_changed = void (*)(void* user, int fd, bool read, bool write);
  /// Closes a socket, instead of close(2).
  using socket_close = void (*)(void* user, int fd);

  dns_channel() noexcept = default;
  dns_channel(const dns_channel&) = delete;
  dns_channel& operator=(const dns_channel&) = delete;
  ~dns_channel() { close(); }

  /// Reads the system's configuration; fails with no_memory, invalid_argument (options that make
  /// no sense), or what reading it said. `user` goes to the functions.
  error_code open(const ip::resolver_options& options, socket_changed changed,
                  socket_close close_socket, void* user) noexcept;

  /// Ends all lookups, with operation_aborted.
  void close() noexcept;

  bool is_open() const noexcept { return channel_ != nullptr; }
  ares_channeldata* get() const noexcept { return channel_; }

  /// Lets c-ares act on sockets that are ready (-1 for none), and on timeouts that have passed.
  void process(int readable, int writable) noexcept;

  /// Why the last socket could not be opened; no error if it could.
  const error_code& socket_error() const noexcept { return socket_error_; }

  /// Milliseconds until `process` has a timeout to act on; -1 for none.
  int timeout_ms() const noexcept;

 private:
  static void on_socket_state(void* self, int fd, int read, int write) noexcept;
  static int open_socket(int domain, int type, int protocol, void* self) noexcept;
  static int on_close(int fd, void* self) noexcept;
  static const ares_socket_functions& socket_functions() noexcept;

  ares_channeldata* channel_ = nullptr;
  socket_changed changed_ = nullptr;
  socket_close close_ = nullptr;
  void* user_ = nullptr;
  error_code socket_error_;
};

}  // namespace WEFT_NAMESPACE::detail
