// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/base/error.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/op/wait.hpp>
#include <weft/net/socket_base.hpp>
#include <weft/net/socket_handle.hpp>

namespace WEFT_NAMESPACE::detail {

struct socket_access;

constexpr io_queue wait_queue(socket_base::wait_type what) noexcept {
  return what == socket_base::wait_read    ? io_queue::read
         : what == socket_base::wait_write ? io_queue::write
                                           : io_queue::except;
}

/// What sockets and acceptors have in common: an executor, a protocol, and a descriptor with its
/// life, options and modes.
///
/// Calls, errors, blocking, order, cancellation and thread safety: as said at basic_socket.
template <class Protocol, class Executor>
class socket_object : public socket_base {
 public:
  /// The executor of completion handlers that have none of their own.
  using executor_type = Executor;
  /// A file descriptor.
  using native_handle_type = int;
  using protocol_type = Protocol;
  using endpoint_type = typename Protocol::endpoint;

  /// The executor given at construction. Any thread.
  const executor_type& get_executor() noexcept { return executor_; }

  /// Opens the socket: socket(2). Fails with already_open, address_family_not_supported,
  /// no_descriptors, access_denied (raw sockets) ...
  void open(const protocol_type& protocol = protocol_type()) {
    error_code ec;
    open(protocol, ec);
    throw_if(ec, "open");
  }
  void open(const protocol_type& protocol, error_code& ec) {
    ec = handle_.open(protocol.family(), protocol.type(), protocol.protocol());
    if (!ec)
      protocol_ = protocol;
  }

  /// Takes over an open descriptor of the protocol's socket type. Fails with already_open,
  /// not_socket, or EPROTOTYPE for another type; then it stays the caller's.
  void assign(const protocol_type& protocol, const native_handle_type& native_socket) {
    error_code ec;
    assign(protocol, native_socket, ec);
    throw_if(ec, "assign");
  }
  void assign(const protocol_type& protocol, const native_handle_type& native_socket,
              error_code& ec) {
    ec = handle_.assign(protocol.type(), native_socket);
    if (!ec)
      protocol_ = protocol;
  }

  /// Whether there is a descriptor.
  bool is_open() const noexcept { return handle_.is_open(); }

  /// Cancels what is pending and closes the descriptor. When it returns, the kernel holds no
  /// request on it. If an error is reported, it is closed nonetheless. A closed socket: success.
  /// Any thread. Linear in the number of operations pending on it.
  void close() {
    error_code ec;
    close(ec);
    throw_if(ec, "close");
  }
  void close(error_code& ec) { ec = handle_.close(); }

  /// The same, but gives the open descriptor to the caller, in the blocking mode that the user
  /// left it in (but after a fork, of which the context was notified, in that it has). Fails with
  /// bad_descriptor on a closed socket.
  native_handle_type release() {
    error_code ec;
    const native_handle_type fd = release(ec);
    throw_if(ec, "release");
    return fd;
  }
  native_handle_type release(error_code& ec) { return handle_.release(ec); }

  /// The descriptor, for calls the library does not offer; -1 if closed. It may be in non-blocking
  /// mode (`native_non_blocking`).
  native_handle_type native_handle() noexcept { return handle_.native_handle(); }

  /// Cancels all asynchronous operations: those that have not done their work yet complete with
  /// operation_aborted. Any thread. Linear in their number.
  void cancel() {
    error_code ec;
    cancel(ec);
    throw_if(ec, "cancel");
  }
  void cancel(error_code& ec) {
    ec = handle_.cancel() ? error_code() : error_code(error::bad_descriptor);
  }

  /// Gives the socket a local address: bind(2). Fails with address_in_use, access_denied,
  /// invalid_argument (it has one already), EADDRNOTAVAIL ...
  void bind(const endpoint_type& endpoint) {
    error_code ec;
    bind(endpoint, ec);
    throw_if(ec, "bind");
  }
  void bind(const endpoint_type& endpoint, error_code& ec) {
    ec = handle_.bind(endpoint.data(), endpoint.size());
  }

  /// setsockopt(2). Options stand in socket_base and in the protocol classes. Fails with
  /// no_protocol_option, invalid_argument ...
  template <class SettableSocketOption>
  void set_option(const SettableSocketOption& option) {
    error_code ec;
    set_option(option, ec);
    throw_if(ec, "set_option");
  }
  template <class SettableSocketOption>
  void set_option(const SettableSocketOption& option, error_code& ec) {
    ec = handle_.set_option(option.level(protocol_), option.name(protocol_), option.data(protocol_),
                            option.size(protocol_));
  }

  /// getsockopt(2), into `option`, which a failure leaves as it was. Fails as set_option.
  template <class GettableSocketOption>
  void get_option(GettableSocketOption& option) const {
    error_code ec;
    get_option(option, ec);
    throw_if(ec, "get_option");
  }
  template <class GettableSocketOption>
  void get_option(GettableSocketOption& option, error_code& ec) const {
    std::size_t size = option.size(protocol_);
    ec = handle_.get_option(option.level(protocol_), option.name(protocol_), option.data(protocol_),
                            size);
    if (!ec)
      option.resize(protocol_, size);
  }

  /// ioctl(2); commands stand in socket_base, `bytes_readable` for one. Fails with ENOTTY ...
  template <class IoControlCommand>
  void io_control(IoControlCommand& command) {
    error_code ec;
    io_control(command, ec);
    throw_if(ec, "io_control");
  }
  template <class IoControlCommand>
  void io_control(IoControlCommand& command, error_code& ec) {
    ec = handle_.io_control(static_cast<unsigned long>(command.name()),
                            static_cast<void*>(command.data()));
  }

  /// Whether synchronous calls fail with would_block instead of blocking; false at first.
  bool non_blocking() const noexcept { return handle_.non_blocking(); }
  void non_blocking(bool mode) {
    error_code ec;
    non_blocking(mode, ec);
    throw_if(ec, "non_blocking");
  }
  void non_blocking(bool mode, error_code& ec) { ec = handle_.non_blocking(mode); }

  /// Whether the descriptor itself is in non-blocking mode (O_NONBLOCK), as far as the library set
  /// it: that is how direct system calls behave. Starting an asynchronous connect or accept sets
  /// it. It does not change what calls of this class do. Resetting it under `non_blocking()` fails
  /// with invalid_argument.
  bool native_non_blocking() const noexcept { return handle_.native_non_blocking(); }
  void native_non_blocking(bool mode) {
    error_code ec;
    native_non_blocking(mode, ec);
    throw_if(ec, "native_non_blocking");
  }
  void native_non_blocking(bool mode, error_code& ec) { ec = handle_.native_non_blocking(mode); }

  /// The address the socket is bound to: getsockname(2). Tells the port that port 0 became.
  endpoint_type local_endpoint() const {
    error_code ec;
    endpoint_type endpoint = local_endpoint(ec);
    throw_if(ec, "local_endpoint");
    return endpoint;
  }
  endpoint_type local_endpoint(error_code& ec) const {
    return endpoint_by(&socket_handle::local_endpoint, ec);
  }

  /// Waits until the socket is ready to be read or written, or has an error pending. In
  /// non-blocking mode it only looks, and fails with would_block.
  void wait(wait_type what) {
    error_code ec;
    wait(what, ec);
    throw_if(ec, "wait");
  }
  void wait(wait_type what, error_code& ec) { ec = handle_.wait(wait_queue(what)); }

  /// The same, asynchronously, in either mode. It takes its turn among the reads or the writes.
  /// Completion: void(error_code).
  /// Errors: bad_descriptor, operation_aborted.
  /// Cancellation: terminal, partial and total; nothing is lost.
  template <
      completion_token_for<void(error_code)> WaitToken = default_completion_token_t<executor_type>>
  auto async_wait(wait_type what, WaitToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WaitToken, void(error_code)>(initiate_wait(*this), token, what);
  }

 protected:
  explicit socket_object(const executor_type& ex)
      : executor_(ex), handle_(executor_context(executor_)) {}
  /// What is pending goes on undisturbed; `other` is left closed, with its executor.
  socket_object(socket_object&& other) noexcept
      : executor_(other.executor_), protocol_(other.protocol_), handle_(std::move(other.handle_)) {}
  template <class Protocol1, class Executor1>
  explicit socket_object(socket_object<Protocol1, Executor1>&& other)
      : executor_(other.executor_), protocol_(other.protocol_), handle_(std::move(other.handle_)) {}
  /// Closes this object first.
  socket_object& operator=(socket_object&& other) {
    handle_ = std::move(other.handle_);
    executor_ = other.executor_;
    protocol_ = other.protocol_;
    return *this;
  }
  /// Cancels what is pending, as `cancel()`, and closes the descriptor, ignoring errors.
  ~socket_object() = default;

  /// What the initiation objects of async_initiate have in common.
  class initiation_base {
   public:
    using executor_type = Executor;

    explicit initiation_base(socket_object& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

   protected:
    socket_handle& handle() const noexcept { return self_->handle_; }
    const Protocol& protocol() const noexcept { return self_->protocol_; }
    socket_object& socket() const noexcept { return *self_; }

   private:
    socket_object* self_;
  };

  /// What `get`, a member of the handle, stores.
  endpoint_type endpoint_by(error_code (socket_handle::*get)(sockaddr*, std::size_t&)
                                const noexcept,
                            error_code& ec) const {
    endpoint_type endpoint;
    std::size_t size = endpoint.capacity();
    ec = (handle_.*get)(endpoint.data(), size);
    if (ec)
      return endpoint_type();
    endpoint.resize(size);
    return endpoint;
  }

  socket_handle& handle() noexcept { return handle_; }
  const socket_handle& handle() const noexcept { return handle_; }
  const Protocol& protocol() const noexcept { return protocol_; }

 private:
  template <class, class>
  friend class socket_object;
  friend socket_access;

  class initiate_wait : public initiation_base {
   public:
    using initiation_base::initiation_base;
    template <class Handler>
    void operator()(Handler&& handler, wait_type what) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      start_io<readiness_operation>(this->handle(), own, this->get_executor(), wait_queue(what));
    }
  };

  error_code adopt(const Protocol& protocol, int fd) noexcept {
    const error_code ec = handle_.adopt(fd);
    if (!ec)
      protocol_ = protocol;
    return ec;
  }

  template <class Executor1>
  error_code take(socket_object<Protocol, Executor1>& from) noexcept {
    const error_code ec = handle_.take(from.handle_);
    if (!ec)
      protocol_ = from.protocol_;
    return ec;
  }

  Executor executor_;
  Protocol protocol_{endpoint_type().protocol()};
  socket_handle handle_;
};

}  // namespace WEFT_NAMESPACE::detail
