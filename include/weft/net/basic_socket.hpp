// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>

#include <weft/async/async_result.hpp>
#include <weft/base/error.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/execution/execution_context.hpp>
#include <weft/execution/submit.hpp>
#include <weft/io/op/accept.hpp>
#include <weft/io/op/completed.hpp>
#include <weft/io/op/connect.hpp>
#include <weft/io/op/wait.hpp>
#include <weft/net/fwd.hpp>
#include <weft/net/socket_base.hpp>
#include <weft/net/socket_handle.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

constexpr io_queue wait_queue(socket_base::wait_type what) noexcept {
  return what == socket_base::wait_read    ? io_queue::read
         : what == socket_base::wait_write ? io_queue::write
                                           : io_queue::except;
}

/// An execution context whose executor is, or converts to, `Executor`.
template <class T, class Executor>
concept context_of_executor = std::convertible_to<T&, execution_context&> && requires(T& context) {
  { context.get_executor() } -> std::convertible_to<Executor>;
};

}  // namespace detail

/// What the sockets of all kinds have in common. It is the base of basic_stream_socket,
/// basic_datagram_socket, basic_raw_socket and basic_seq_packet_socket, never an object by itself.
///
/// Every call has a form that throws system_error and one that takes an error_code and never
/// throws; the latter is set to success too. On a closed socket calls fail with
/// error::bad_descriptor, unless said otherwise.
///
/// Descriptors are close-on-exec, and no call raises SIGPIPE.
///
/// Blocking: synchronous calls block until they are done, unless `non_blocking(true)` was set. An
/// asynchronous operation never blocks, and never fails with would_block.
///
/// Order: asynchronous reads are performed in the order they were started, so are writes (connect
/// among them); a read and a write do not wait for each other.
///
/// Cancellation: each asynchronous operation answers to cancellation_type terminal, partial and
/// total, and to `cancel()` and `close()`: it completes with error::operation_aborted, unless it
/// has done its work already; then it reports that.
///
/// Thread safety: distinct objects are independent. On one object, `cancel`, `close`, `release`,
/// and starting asynchronous operations may be called from several threads at once, and so may
/// synchronous transfers; opening, moving, assigning to and destroying it may not run beside
/// anything else.
///
/// Complexity: each call is O(1) and makes a few system calls at most.
template <class Protocol, class Executor>
class basic_socket : public socket_base {
 public:
  using executor_type = Executor;
  using native_handle_type = int;
  using protocol_type = Protocol;
  using endpoint_type = typename Protocol::endpoint;
  /// A basic_socket is always the lowest layer.
  using lowest_layer_type = basic_socket;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_socket<Protocol, Executor1>;
  };

  /// A closed socket. Completion handlers run by `ex`, unless they have an executor of their own.
  explicit basic_socket(const executor_type& ex)
      : executor_(ex), handle_(detail::executor_context(executor_)) {}
  template <detail::context_of_executor<Executor> ExecutionContext>
  explicit basic_socket(ExecutionContext& context) : basic_socket(context.get_executor()) {}

  /// An open socket; throws as `open`.
  basic_socket(const executor_type& ex, const protocol_type& protocol) : basic_socket(ex) {
    open(protocol);
  }
  template <detail::context_of_executor<Executor> ExecutionContext>
  basic_socket(ExecutionContext& context, const protocol_type& protocol)
      : basic_socket(context.get_executor(), protocol) {}

  /// A socket bound to `endpoint`; throws as `open` and `bind`.
  basic_socket(const executor_type& ex, const endpoint_type& endpoint)
      : basic_socket(ex, endpoint.protocol()) {
    bind(endpoint);
  }
  template <detail::context_of_executor<Executor> ExecutionContext>
  basic_socket(ExecutionContext& context, const endpoint_type& endpoint)
      : basic_socket(context.get_executor(), endpoint) {}

  /// A socket that takes over a descriptor; throws as `assign`.
  basic_socket(const executor_type& ex, const protocol_type& protocol,
               const native_handle_type& native_socket)
      : basic_socket(ex) {
    assign(protocol, native_socket);
  }
  template <detail::context_of_executor<Executor> ExecutionContext>
  basic_socket(ExecutionContext& context, const protocol_type& protocol,
               const native_handle_type& native_socket)
      : basic_socket(context.get_executor(), protocol, native_socket) {}

  /// Takes over the descriptor with what is pending on it, which goes on undisturbed. `other` is
  /// left closed, with its executor.
  basic_socket(basic_socket&& other) noexcept
      : executor_(other.executor_), protocol_(other.protocol_), handle_(std::move(other.handle_)) {}
  /// From a socket of a protocol and an executor that convert: `tcp::socket` to
  /// `generic::stream_protocol::socket`.
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket<Protocol1, Executor1>, basic_socket>)
  basic_socket(basic_socket<Protocol1, Executor1>&& other)
      : executor_(other.executor_), protocol_(other.protocol_), handle_(std::move(other.handle_)) {}

  /// Closes this socket first, as the destructor does.
  basic_socket& operator=(basic_socket&& other) {
    handle_ = std::move(other.handle_);
    executor_ = other.executor_;
    protocol_ = other.protocol_;
    return *this;
  }
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket<Protocol1, Executor1>, basic_socket>)
  basic_socket& operator=(basic_socket<Protocol1, Executor1>&& other) {
    return *this = basic_socket(std::move(other));
  }

  const executor_type& get_executor() noexcept { return executor_; }
  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// Opens the socket: socket(2). Fails with already_open, address_family_not_supported,
  /// no_descriptors, access_denied (raw sockets) ...
  void open(const protocol_type& protocol = protocol_type()) {
    error_code ec;
    open(protocol, ec);
    detail::throw_if(ec, "open");
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
    detail::throw_if(ec, "assign");
  }
  void assign(const protocol_type& protocol, const native_handle_type& native_socket,
              error_code& ec) {
    ec = handle_.assign(protocol.type(), native_socket);
    if (!ec)
      protocol_ = protocol;
  }

  bool is_open() const noexcept { return handle_.is_open(); }

  /// Cancels what is pending and closes the descriptor. When it returns, the kernel holds no
  /// request on it. If an error is reported, it is closed nonetheless. A closed socket: success.
  void close() {
    error_code ec;
    close(ec);
    detail::throw_if(ec, "close");
  }
  void close(error_code& ec) { ec = handle_.close(); }

  /// The same, but gives the open descriptor to the caller, in the blocking mode that the user
  /// left it in.
  native_handle_type release() {
    error_code ec;
    const native_handle_type fd = release(ec);
    detail::throw_if(ec, "release");
    return fd;
  }
  native_handle_type release(error_code& ec) { return handle_.release(ec); }

  /// The descriptor, for calls the library does not offer; -1 if closed. It may be in non-blocking
  /// mode (`native_non_blocking`).
  native_handle_type native_handle() noexcept { return handle_.native_handle(); }

  /// Cancels all asynchronous operations on the socket.
  void cancel() {
    error_code ec;
    cancel(ec);
    detail::throw_if(ec, "cancel");
  }
  void cancel(error_code& ec) {
    ec = handle_.cancel() ? error_code() : error_code(error::bad_descriptor);
  }

  /// Whether the next byte to be read follows urgent data: sockatmark(3).
  bool at_mark() const {
    error_code ec;
    const bool result = at_mark(ec);
    detail::throw_if(ec, "at_mark");
    return result;
  }
  bool at_mark(error_code& ec) const { return handle_.at_mark(ec); }

  /// How many bytes can be read without blocking: FIONREAD; for datagrams, of the next one.
  std::size_t available() const {
    error_code ec;
    const std::size_t result = available(ec);
    detail::throw_if(ec, "available");
    return result;
  }
  std::size_t available(error_code& ec) const { return handle_.available(ec); }

  /// Gives the socket a local address: bind(2).
  void bind(const endpoint_type& endpoint) {
    error_code ec;
    bind(endpoint, ec);
    detail::throw_if(ec, "bind");
  }
  void bind(const endpoint_type& endpoint, error_code& ec) {
    ec = handle_.bind(endpoint.data(), endpoint.size());
  }

  /// Connects to a peer; opens the socket if it is closed. If it fails, the socket stays open, and
  /// close() is the way to a socket that may be connected again. In non-blocking mode would_block
  /// says that the connection is being made; `wait(wait_write)` tells when it is decided.
  void connect(const endpoint_type& peer_endpoint) {
    error_code ec;
    connect(peer_endpoint, ec);
    detail::throw_if(ec, "connect");
  }
  void connect(const endpoint_type& peer_endpoint, error_code& ec) {
    ec = error_code();
    if (!is_open())
      open(peer_endpoint.protocol(), ec);
    if (!ec)
      ec = handle_.connect(peer_endpoint.data(), peer_endpoint.size());
  }

  /// Connects to a peer; opens the socket if it is closed (what that fails with is reported to the
  /// handler). Completion: void(error_code), with connection_refused, timed_out,
  /// network_unreachable ... While the queue of a UNIX-domain acceptor is full it waits: the system
  /// tells nobody of room there, so that it is tried every 10 ms. Cancelled half-way, the system
  /// may go on connecting: close the socket before it is used again. `peer_endpoint` is copied.
  template <completion_token_for<void(error_code)> ConnectToken =
                default_completion_token_t<executor_type>>
  auto async_connect(const endpoint_type& peer_endpoint,
                     ConnectToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ConnectToken, void(error_code)>(initiate_connect(*this), token,
                                                          peer_endpoint);
  }

  /// setsockopt(2). Options stand in socket_base and in the protocol classes.
  template <class SettableSocketOption>
  void set_option(const SettableSocketOption& option) {
    error_code ec;
    set_option(option, ec);
    detail::throw_if(ec, "set_option");
  }
  template <class SettableSocketOption>
  void set_option(const SettableSocketOption& option, error_code& ec) {
    ec = handle_.set_option(option.level(protocol_), option.name(protocol_), option.data(protocol_),
                            option.size(protocol_));
  }

  /// getsockopt(2), into `option`.
  template <class GettableSocketOption>
  void get_option(GettableSocketOption& option) const {
    error_code ec;
    get_option(option, ec);
    detail::throw_if(ec, "get_option");
  }
  template <class GettableSocketOption>
  void get_option(GettableSocketOption& option, error_code& ec) const {
    std::size_t size = option.size(protocol_);
    ec = handle_.get_option(option.level(protocol_), option.name(protocol_), option.data(protocol_),
                            size);
    if (!ec)
      option.resize(protocol_, size);
  }

  /// ioctl(2); commands stand in io_control.
  template <class IoControlCommand>
  void io_control(IoControlCommand& command) {
    error_code ec;
    io_control(command, ec);
    detail::throw_if(ec, "io_control");
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
    detail::throw_if(ec, "non_blocking");
  }
  void non_blocking(bool mode, error_code& ec) { ec = handle_.non_blocking(mode); }

  /// Whether the descriptor itself is in non-blocking mode (O_NONBLOCK), as far as the library set
  /// it: that is how direct system calls behave. Starting an asynchronous connect sets it. It does
  /// not change what calls of this class do. Resetting it under `non_blocking()` fails with
  /// invalid_argument.
  bool native_non_blocking() const noexcept { return handle_.native_non_blocking(); }
  void native_non_blocking(bool mode) {
    error_code ec;
    native_non_blocking(mode, ec);
    detail::throw_if(ec, "native_non_blocking");
  }
  void native_non_blocking(bool mode, error_code& ec) { ec = handle_.native_non_blocking(mode); }

  /// The address the socket is bound to: getsockname(2).
  endpoint_type local_endpoint() const {
    error_code ec;
    endpoint_type endpoint = local_endpoint(ec);
    detail::throw_if(ec, "local_endpoint");
    return endpoint;
  }
  endpoint_type local_endpoint(error_code& ec) const {
    endpoint_type endpoint;
    std::size_t size = endpoint.capacity();
    ec = handle_.local_endpoint(endpoint.data(), size);
    if (ec)
      return endpoint_type();
    endpoint.resize(size);
    return endpoint;
  }

  /// The address of the peer: getpeername(2). Fails with not_connected.
  endpoint_type remote_endpoint() const {
    error_code ec;
    endpoint_type endpoint = remote_endpoint(ec);
    detail::throw_if(ec, "remote_endpoint");
    return endpoint;
  }
  endpoint_type remote_endpoint(error_code& ec) const {
    endpoint_type endpoint;
    std::size_t size = endpoint.capacity();
    ec = handle_.remote_endpoint(endpoint.data(), size);
    if (ec)
      return endpoint_type();
    endpoint.resize(size);
    return endpoint;
  }

  /// Ends one direction of a connection, or both: shutdown(2). The peer reads what was sent and
  /// then eof; pending reads end with eof.
  void shutdown(shutdown_type what) {
    error_code ec;
    shutdown(what, ec);
    detail::throw_if(ec, "shutdown");
  }
  void shutdown(shutdown_type what, error_code& ec) { ec = handle_.shutdown(what); }

  /// Waits until the socket is ready to be read or written, or has an error pending. In
  /// non-blocking mode it only looks, and fails with would_block.
  void wait(wait_type what) {
    error_code ec;
    wait(what, ec);
    detail::throw_if(ec, "wait");
  }
  void wait(wait_type what, error_code& ec) { ec = handle_.wait(detail::wait_queue(what)); }

  /// The same. Completion: void(error_code). It takes its turn among the reads or the writes.
  template <
      completion_token_for<void(error_code)> WaitToken = default_completion_token_t<executor_type>>
  auto async_wait(wait_type what, WaitToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WaitToken, void(error_code)>(initiate_wait(*this), token, what);
  }

 protected:
  /// Cancels what is pending, as `cancel()`, and closes the socket, ignoring errors.
  ~basic_socket() = default;

  /// What the initiation objects of async_initiate have in common.
  class initiation_base {
   public:
    using executor_type = Executor;

    explicit initiation_base(basic_socket& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

   protected:
    detail::socket_handle& handle() const noexcept { return self_->handle_; }
    const Protocol& protocol() const noexcept { return self_->protocol_; }
    basic_socket& socket() const noexcept { return *self_; }

   private:
    basic_socket* self_;
  };

  detail::socket_handle& handle() noexcept { return handle_; }
  const detail::socket_handle& handle() const noexcept { return handle_; }
  const Protocol& protocol() const noexcept { return protocol_; }

 private:
  template <class, class>
  friend class basic_socket;
  friend struct detail::socket_access;

  class initiate_connect : public initiation_base {
   public:
    using initiation_base::initiation_base;
    template <class Handler>
    void operator()(Handler&& handler, const endpoint_type& peer) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      error_code ec;
      if (!this->socket().is_open())
        this->socket().open(peer.protocol(), ec);
      if (!ec)
        ec = this->handle().make_asynchronous();
      if (ec)
        detail::complete_now(this->handle().owner(), own, this->get_executor(), ec);
      else
        detail::start_io<detail::connect_to_operation<endpoint_type>>(this->handle(), own,
                                                                      this->get_executor(), peer);
    }
  };

  class initiate_wait : public initiation_base {
   public:
    using initiation_base::initiation_base;
    template <class Handler>
    void operator()(Handler&& handler, wait_type what) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      detail::start_io<detail::readiness_operation>(this->handle(), own, this->get_executor(),
                                                    detail::wait_queue(what));
    }
  };

  error_code adopt(const Protocol& protocol, int fd) noexcept {
    const error_code ec = handle_.adopt(fd);
    if (!ec)
      protocol_ = protocol;
    return ec;
  }

  Executor executor_;
  Protocol protocol_{endpoint_type().protocol()};
  detail::socket_handle handle_;
};

}  // namespace WEFT_NAMESPACE
