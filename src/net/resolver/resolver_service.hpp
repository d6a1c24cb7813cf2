// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>

#include <weft/execution/execution_context.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/timer_core.hpp>
#include <weft/net/resolve_operation.hpp>

#include "net/resolver/dns_channel.hpp"
#include "net/resolver/dns_lookup.hpp"

namespace WEFT_NAMESPACE::detail {

/// The lookup of an operation. c-ares cannot cancel one alone, so a lookup that nobody waits for
/// any more goes on without its operation, until it is answered or the channel is closed; then it
/// deletes itself.
struct pending_lookup final : dns_lookup {
  pending_lookup(resolver_service& service_in, resolve_request request) noexcept
      : dns_lookup(std::move(request)), service(service_in) {}

  resolver_service& service;
  resolve_operation* op = nullptr;
  bool is_asked = false;    // c-ares has it
  bool to_restart = false;  // the channel is closed only to be opened again
};

/// The asynchronous lookups of a context.
///
/// They share one c-ares channel, which is opened with the first and closed with the last that
/// anybody waits for: so each burst of lookups sees the system's present configuration, and an idle
/// resolver holds no socket, no timer and no work. c-ares tells which of its sockets to wait on;
/// each has a handle at the I/O driver, with at most one wait per direction.
///
/// mutex_ guards everything but the ids, and is held over calls of c-ares, whose callbacks come in
/// with it locked. It is taken before the locks of the driver, the timers and the scheduler, and
/// never while one of these is held. No handler is called or destroyed with it locked.
class resolver_service final : public execution_context::service {
 public:
  using key_type = resolver_service;

  explicit resolver_service(execution_context& context);

  scheduler& owner() const noexcept { return scheduler_; }
  ip::resolver_options options();
  std::uint64_t new_id() noexcept { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  bool start(resolve_operation* op) noexcept;
  void cancel(resolve_operation* op) noexcept;
  void cancel(std::uint64_t resolver_id) noexcept;

  /// A wait on the socket with this serial number is over.
  void on_ready(std::uint64_t serial, io_queue direction, const error_code& ec) noexcept;
  void on_timeout() noexcept;

  void set_options(const ip::resolver_options& options);

  /// How many lookups are under way. O(n).
  std::size_t pending() noexcept;

 private:
  /// A socket of c-ares.
  struct socket {
    socket(execution_context& context, int fd_in, std::uint64_t serial_in)
        : handle(context), fd(fd_in), serial(serial_in) {}

    bool& waiting(io_queue direction) noexcept {
      return direction == io_queue::read ? waiting_to_read : waiting_to_write;
    }

    io_handle handle;
    int fd;
    std::uint64_t serial;  // descriptors are used again; these are not
    bool wants_read = false;
    bool wants_write = false;
    bool waiting_to_read = false;
    bool waiting_to_write = false;
    bool failed = false;  // cannot be waited on: only timeouts help its lookups
  };

  void shutdown() override;
  void notify_fork(execution_context::fork_event event) override;

  // Those below are called with mutex_ locked.
  error_code ask(pending_lookup& lookup) noexcept;
  void unlink(resolve_operation& op) noexcept;
  void finish(resolve_operation& op) noexcept;
  void abort(resolve_operation& op, const error_code& ec) noexcept;
  void arm() noexcept;
  void arm_sockets();
  void arm_timer();
  socket* find(int fd) noexcept;

  /// Looks after sockets and timer, and hands out what has finished.
  void update(operation_queue& finished) noexcept;

  static void on_finished(dns_lookup& lookup);
  static void on_socket(void* self, int fd, bool read, bool write);
  static void on_close(void* self, int fd);

  scheduler& scheduler_;
  ip::resolver_options options_;
  std::atomic<std::uint64_t> next_id_{1};

  std::mutex mutex_;
  resolve_operation* pending_ = nullptr;  // a doubly linked list
  operation_queue finished_;
  std::list<socket> sockets_;
  std::uint64_t last_serial_ = 0;
  timer_state timer_;
  std::int64_t timer_expiry_;  // of the wait under way; `never` if there is none
  bool is_shut_down_ = false;
  dns_channel channel_;  // the last to be made and the first to go: it closes the sockets
};

}  // namespace WEFT_NAMESPACE::detail
