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
#include <weft/net/fwd.hpp>
#include <weft/net/socket_object.hpp>

namespace WEFT_NAMESPACE {

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
class basic_socket : public detail::socket_object<Protocol, Executor> {
  using base = detail::socket_object<Protocol, Executor>;

 public:
  using base::assign;
  using base::bind;
  using base::is_open;
  using base::open;
  using typename base::endpoint_type;
  using typename base::executor_type;
  using typename base::native_handle_type;
  using typename base::protocol_type;
  using typename base::shutdown_type;
  /// A basic_socket is always the lowest layer.
  using lowest_layer_type = basic_socket;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_socket<Protocol, Executor1>;
  };

  /// A closed socket. Completion handlers run by `ex`, unless they have an executor of their own.
  explicit basic_socket(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_socket(ExecutionContext& context) : basic_socket(context.get_executor()) {}

  /// An open socket; throws as `open`.
  basic_socket(const executor_type& ex, const protocol_type& protocol) : basic_socket(ex) {
    open(protocol);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_socket(ExecutionContext& context, const protocol_type& protocol)
      : basic_socket(context.get_executor(), protocol) {}

  /// A socket bound to `endpoint`; throws as `open` and `bind`.
  basic_socket(const executor_type& ex, const endpoint_type& endpoint)
      : basic_socket(ex, endpoint.protocol()) {
    bind(endpoint);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_socket(ExecutionContext& context, const endpoint_type& endpoint)
      : basic_socket(context.get_executor(), endpoint) {}

  /// A socket that takes over a descriptor; throws as `assign`.
  basic_socket(const executor_type& ex, const protocol_type& protocol,
               const native_handle_type& native_socket)
      : basic_socket(ex) {
    assign(protocol, native_socket);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_socket(ExecutionContext& context, const protocol_type& protocol,
               const native_handle_type& native_socket)
      : basic_socket(context.get_executor(), protocol, native_socket) {}

  /// Takes over the descriptor with what is pending on it, which goes on undisturbed. `other` is
  /// left closed, with its executor.
  basic_socket(basic_socket&& other) noexcept = default;
  /// From a socket of a protocol and an executor that convert: `tcp::socket` to
  /// `generic::stream_protocol::socket`.
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket<Protocol1, Executor1>, basic_socket>)
  basic_socket(basic_socket<Protocol1, Executor1>&& other) : base(std::move(other)) {}

  /// Closes this socket first, as the destructor does.
  basic_socket& operator=(basic_socket&& other) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket<Protocol1, Executor1>, basic_socket>)
  basic_socket& operator=(basic_socket<Protocol1, Executor1>&& other) {
    return *this = basic_socket(std::move(other));
  }

  /// This socket: it stands on no other layer.
  lowest_layer_type& lowest_layer() noexcept { return *this; }
  const lowest_layer_type& lowest_layer() const noexcept { return *this; }

  /// Whether the next byte to be read follows urgent data: sockatmark(3).
  bool at_mark() const {
    error_code ec;
    const bool result = at_mark(ec);
    detail::throw_if(ec, "at_mark");
    return result;
  }
  bool at_mark(error_code& ec) const { return this->handle().at_mark(ec); }

  /// How many bytes can be read without blocking: FIONREAD; for datagrams, of the next one.
  std::size_t available() const {
    error_code ec;
    const std::size_t result = available(ec);
    detail::throw_if(ec, "available");
    return result;
  }
  std::size_t available(error_code& ec) const { return this->handle().available(ec); }

  /// Connects to a peer; opens the socket if it is closed. If it fails, the socket stays open, and
  /// close() is the way to a socket that may be connected again. In non-blocking mode would_block
  /// says that the connection is being made; `wait(wait_write)` tells when it is decided. Fails
  /// with connection_refused, timed_out, network_unreachable, already_connected ...
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
      ec = this->handle().connect(peer_endpoint.data(), peer_endpoint.size());
  }

  /// Connects to a peer; opens the socket if it is closed. `peer_endpoint` is copied. While the
  /// queue of a UNIX-domain acceptor is full it waits: the system tells nobody of room there, so
  /// that it is tried every 10 ms.
  /// Completion: void(error_code).
  /// Errors: those of `open` and `connect`, but would_block; operation_aborted.
  /// Cancellation: terminal, partial and total. The system may go on connecting: close the socket
  /// before it is used again.
  template <completion_token_for<void(error_code)> ConnectToken =
                default_completion_token_t<executor_type>>
  auto async_connect(const endpoint_type& peer_endpoint,
                     ConnectToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ConnectToken, void(error_code)>(initiate_connect(*this), token,
                                                          peer_endpoint);
  }

  /// The address of the peer: getpeername(2). Fails with not_connected.
  endpoint_type remote_endpoint() const {
    error_code ec;
    endpoint_type endpoint = remote_endpoint(ec);
    detail::throw_if(ec, "remote_endpoint");
    return endpoint;
  }
  endpoint_type remote_endpoint(error_code& ec) const {
    return this->endpoint_by(&detail::socket_handle::remote_endpoint, ec);
  }

  /// Ends one direction of a connection, or both: shutdown(2). The peer reads what was sent and
  /// then eof; pending reads end with eof.
  void shutdown(shutdown_type what) {
    error_code ec;
    shutdown(what, ec);
    detail::throw_if(ec, "shutdown");
  }
  void shutdown(shutdown_type what, error_code& ec) { ec = this->handle().shutdown(what); }

 protected:
  /// Cancels what is pending, as `cancel()`, and closes the socket, ignoring errors.
  ~basic_socket() = default;

 private:
  class initiate_connect : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
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
};

}  // namespace WEFT_NAMESPACE
