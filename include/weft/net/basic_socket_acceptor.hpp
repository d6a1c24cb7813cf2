// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/execution/executor.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T>
concept any_executor_type = execution::is_executor_v<T> || is_executor<T>::value;

template <class T>
concept any_context_type = std::convertible_to<T&, execution_context&>;

}  // namespace detail

/// Listens for connections and accepts them.
///
/// Calls, errors, thread safety and cancellation: as said at basic_socket. Accepted sockets are
/// close-on-exec; connections that the peer gave up before they were accepted are skipped, unless
/// the option enable_connection_aborted is set.
///
/// At the descriptor limit accepting fails with no_descriptors (or ENFILE, no_buffer_space,
/// no_memory), and the connection stays in the queue. The next asynchronous accept then waits 10 to
/// 100 ms, or until the library closes a descriptor, so that a loop of accepts never spins.
///
/// Cancelled, no connection is lost: one that was taken is reported with success. One that was
/// taken but never delivered, because its context was destroyed, is closed.
///
///     ip::tcp::acceptor acceptor(context, ip::tcp::endpoint(ip::tcp::v6(), 8080));
///     acceptor.async_accept([](error_code ec, ip::tcp::socket peer) { ... });
template <class Protocol, class Executor>
class basic_socket_acceptor : public detail::socket_object<Protocol, Executor> {
  using base = detail::socket_object<Protocol, Executor>;

 public:
  using base::assign;
  using base::bind;
  using base::open;
  using base::set_option;
  using typename base::endpoint_type;
  using typename base::executor_type;
  using typename base::native_handle_type;
  using typename base::protocol_type;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_socket_acceptor<Protocol, Executor1>;
  };

 private:
  template <class Executor1>
  using socket_on = typename Protocol::socket::template rebind_executor<Executor1>::other;

 public:
  /// A closed acceptor.
  explicit basic_socket_acceptor(const executor_type& ex) : base(ex) {}
  template <detail::executor_source<Executor> ExecutionContext>
  explicit basic_socket_acceptor(ExecutionContext& context)
      : basic_socket_acceptor(context.get_executor()) {}

  /// An open acceptor, which neither is bound nor listens; throws as `open`.
  basic_socket_acceptor(const executor_type& ex, const protocol_type& protocol)
      : basic_socket_acceptor(ex) {
    open(protocol);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_socket_acceptor(ExecutionContext& context, const protocol_type& protocol)
      : basic_socket_acceptor(context.get_executor(), protocol) {}

  /// An acceptor that listens on `endpoint`; with `reuse_addr`, also if earlier connections still
  /// occupy it. Throws as `open`, `set_option`, `bind` and `listen`.
  basic_socket_acceptor(const executor_type& ex, const endpoint_type& endpoint,
                        bool reuse_addr = true)
      : basic_socket_acceptor(ex, endpoint.protocol()) {
    if (reuse_addr)
      set_option(socket_base::reuse_address(true));
    bind(endpoint);
    listen();
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_socket_acceptor(ExecutionContext& context, const endpoint_type& endpoint,
                        bool reuse_addr = true)
      : basic_socket_acceptor(context.get_executor(), endpoint, reuse_addr) {}

  /// An acceptor that takes over a descriptor; throws as `assign`.
  basic_socket_acceptor(const executor_type& ex, const protocol_type& protocol,
                        const native_handle_type& native_acceptor)
      : basic_socket_acceptor(ex) {
    assign(protocol, native_acceptor);
  }
  template <detail::executor_source<Executor> ExecutionContext>
  basic_socket_acceptor(ExecutionContext& context, const protocol_type& protocol,
                        const native_handle_type& native_acceptor)
      : basic_socket_acceptor(context.get_executor(), protocol, native_acceptor) {}

  /// Takes over the descriptor with what is pending on it. `other` is left closed.
  basic_socket_acceptor(basic_socket_acceptor&& other) noexcept = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket_acceptor<Protocol1, Executor1>, basic_socket_acceptor>)
  basic_socket_acceptor(basic_socket_acceptor<Protocol1, Executor1>&& other)
      : base(std::move(other)) {}

  /// Closes this acceptor first, as the destructor does.
  basic_socket_acceptor& operator=(basic_socket_acceptor&& other) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket_acceptor<Protocol1, Executor1>, basic_socket_acceptor>)
  basic_socket_acceptor& operator=(basic_socket_acceptor<Protocol1, Executor1>&& other) {
    return *this = basic_socket_acceptor(std::move(other));
  }

  /// Cancels what is pending, as `cancel()`, and closes the acceptor, ignoring errors.
  ~basic_socket_acceptor() = default;

  /// Lets connections come in: listen(2). `backlog`: how many may wait to be accepted; the kernel
  /// cuts it down to net.core.somaxconn. Fails with address_in_use, operation_not_supported ...
  void listen(int backlog = socket_base::max_listen_connections) {
    error_code ec;
    listen(backlog, ec);
    detail::throw_if(ec, "listen");
  }
  void listen(int backlog, error_code& ec) { ec = this->handle().listen(backlog); }

  // ---- accepting into a socket of the caller's, which has to be closed (else already_open)

  /// Accepts a connection into `peer`. Fails with already_open, invalid_argument (it does not
  /// listen), would_block, no_descriptors ...
  template <class Protocol1, class Executor1>
    requires std::convertible_to<Protocol, Protocol1>
  void accept(basic_socket<Protocol1, Executor1>& peer) {
    error_code ec;
    accept(peer, ec);
    detail::throw_if(ec, "accept");
  }
  template <class Protocol1, class Executor1>
    requires std::convertible_to<Protocol, Protocol1>
  void accept(basic_socket<Protocol1, Executor1>& peer, error_code& ec) {
    accept_into(peer, static_cast<endpoint_type*>(nullptr), ec);
  }

  /// The same, and tells the peer's address.
  template <class Executor1>
  void accept(basic_socket<protocol_type, Executor1>& peer, endpoint_type& peer_endpoint) {
    error_code ec;
    accept(peer, peer_endpoint, ec);
    detail::throw_if(ec, "accept");
  }
  template <class Executor1>
  void accept(basic_socket<protocol_type, Executor1>& peer, endpoint_type& peer_endpoint,
              error_code& ec) {
    accept_into(peer, &peer_endpoint, ec);
  }

  /// The same, asynchronously. `peer` and `peer_endpoint` must live until it has completed; they
  /// are written just before the handler is called.
  /// Completion: void(error_code).
  /// Errors: those of `accept`, but would_block; operation_aborted.
  /// Cancellation: terminal, partial and total; no connection is lost.
  template <class Protocol1, class Executor1,
            completion_token_for<void(error_code)> AcceptToken =
                default_completion_token_t<executor_type>>
    requires std::convertible_to<Protocol, Protocol1>
  auto async_accept(basic_socket<Protocol1, Executor1>& peer,
                    AcceptToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<AcceptToken, void(error_code)>(initiate_accept(*this), token, &peer,
                                                         static_cast<endpoint_type*>(nullptr));
  }
  template <class Executor1, completion_token_for<void(error_code)> AcceptToken =
                                 default_completion_token_t<executor_type>>
  auto async_accept(basic_socket<protocol_type, Executor1>& peer, endpoint_type& peer_endpoint,
                    AcceptToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<AcceptToken, void(error_code)>(initiate_accept(*this), token, &peer,
                                                         &peer_endpoint);
  }

  // ---- accepting into a new socket, on the acceptor's executor or on one that is given

  /// Accepts a connection. After an error the returned socket is closed. Fails as above.
  socket_on<executor_type> accept() { return accept(this->get_executor()); }
  socket_on<executor_type> accept(error_code& ec) { return accept(this->get_executor(), ec); }
  template <detail::any_executor_type Executor1>
  socket_on<Executor1> accept(const Executor1& ex) {
    error_code ec;
    auto peer = accept(ex, ec);
    detail::throw_if(ec, "accept");
    return peer;
  }
  template <detail::any_executor_type Executor1>
  socket_on<Executor1> accept(const Executor1& ex, error_code& ec) {
    socket_on<Executor1> peer(ex);
    accept_into(peer, static_cast<endpoint_type*>(nullptr), ec);
    return peer;
  }
  template <detail::any_context_type ExecutionContext>
  socket_on<typename ExecutionContext::executor_type> accept(ExecutionContext& context) {
    return accept(context.get_executor());
  }
  template <detail::any_context_type ExecutionContext>
  socket_on<typename ExecutionContext::executor_type> accept(ExecutionContext& context,
                                                             error_code& ec) {
    return accept(context.get_executor(), ec);
  }

  /// The same, and tells the peer's address.
  socket_on<executor_type> accept(endpoint_type& peer_endpoint) {
    return accept(this->get_executor(), peer_endpoint);
  }
  socket_on<executor_type> accept(endpoint_type& peer_endpoint, error_code& ec) {
    return accept(this->get_executor(), peer_endpoint, ec);
  }
  template <detail::any_executor_type Executor1>
  socket_on<Executor1> accept(const Executor1& ex, endpoint_type& peer_endpoint) {
    error_code ec;
    auto peer = accept(ex, peer_endpoint, ec);
    detail::throw_if(ec, "accept");
    return peer;
  }
  template <detail::any_executor_type Executor1>
  socket_on<Executor1> accept(const Executor1& ex, endpoint_type& peer_endpoint, error_code& ec) {
    socket_on<Executor1> peer(ex);
    accept_into(peer, &peer_endpoint, ec);
    return peer;
  }
  template <detail::any_context_type ExecutionContext>
  socket_on<typename ExecutionContext::executor_type> accept(ExecutionContext& context,
                                                             endpoint_type& peer_endpoint) {
    return accept(context.get_executor(), peer_endpoint);
  }
  template <detail::any_context_type ExecutionContext>
  socket_on<typename ExecutionContext::executor_type> accept(ExecutionContext& context,
                                                             endpoint_type& peer_endpoint,
                                                             error_code& ec) {
    return accept(context.get_executor(), peer_endpoint, ec);
  }

  /// The same, asynchronously.
  /// Completion: void(error_code, socket), with the type of socket that `accept` with the same
  /// executor returns, or one it converts to; after an error it is closed.
  /// Errors: those of `accept`, but would_block; operation_aborted.
  /// Cancellation: terminal, partial and total; no connection is lost.
  template <completion_token_for<void(error_code, socket_on<executor_type>)> MoveAcceptToken =
                default_completion_token_t<executor_type>>
  auto async_accept(MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(this->get_executor(), static_cast<endpoint_type*>(nullptr), token);
  }
  template <detail::any_executor_type Executor1,
            completion_token_for<void(error_code, socket_on<Executor1>)> MoveAcceptToken =
                default_completion_token_t<executor_type>>
  auto async_accept(const Executor1& ex,
                    MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(ex, static_cast<endpoint_type*>(nullptr), token);
  }
  template <
      detail::any_context_type ExecutionContext,
      completion_token_for<void(error_code, socket_on<typename ExecutionContext::executor_type>)>
          MoveAcceptToken = default_completion_token_t<executor_type>>
  auto async_accept(ExecutionContext& context,
                    MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(context.get_executor(), static_cast<endpoint_type*>(nullptr), token);
  }

  /// The same, and tells the peer's address, in `peer_endpoint` when the handler is called.
  template <completion_token_for<void(error_code, socket_on<executor_type>)> MoveAcceptToken =
                default_completion_token_t<executor_type>>
  auto async_accept(endpoint_type& peer_endpoint,
                    MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(this->get_executor(), &peer_endpoint, token);
  }
  template <detail::any_executor_type Executor1,
            completion_token_for<void(error_code, socket_on<Executor1>)> MoveAcceptToken =
                default_completion_token_t<executor_type>>
  auto async_accept(const Executor1& ex, endpoint_type& peer_endpoint,
                    MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(ex, &peer_endpoint, token);
  }
  template <
      detail::any_context_type ExecutionContext,
      completion_token_for<void(error_code, socket_on<typename ExecutionContext::executor_type>)>
          MoveAcceptToken = default_completion_token_t<executor_type>>
  auto async_accept(ExecutionContext& context, endpoint_type& peer_endpoint,
                    MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(context.get_executor(), &peer_endpoint, token);
  }

 private:
  class accept_initiation : public base::initiation_base {
    using base::initiation_base::initiation_base;

   protected:
    /// Starts an accept, or reports why it cannot begin.
    template <class Operation, class Handler, class... Args>
    void start(Handler& handler, error_code ec, Args&&... args) const {
      detail::socket_handle& handle = this->handle();
      if (!ec && handle.is_open())
        ec = handle.make_asynchronous();
      detail::start_io_unless<Operation>(ec ? &ec : nullptr, handle, handler, this->get_executor(),
                                         handle.reports_aborted_connections(),
                                         std::forward<Args>(args)...);
    }
  };

  class initiate_accept : public accept_initiation {
   public:
    using accept_initiation::accept_initiation;
    template <class Handler, class Socket>
    void operator()(Handler&& handler, Socket* peer, endpoint_type* peer_endpoint) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      this->template start<detail::accept_into_operation<Socket, endpoint_type>>(
          own, peer->is_open() ? error_code(error::already_open) : error_code(), *peer,
          this->protocol(), peer_endpoint);
    }
  };

  class initiate_move_accept : public accept_initiation {
   public:
    using accept_initiation::accept_initiation;
    template <class Handler, class Executor1>
    void operator()(Handler&& handler, const Executor1& ex, endpoint_type* peer_endpoint) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      using socket = socket_on<Executor1>;
      this->template start<detail::accept_new_operation<socket, endpoint_type>>(
          own, error_code(), ex, this->protocol(), peer_endpoint);
    }
  };

  template <class Executor1, class MoveAcceptToken>
  auto start_accept(const Executor1& ex, endpoint_type* peer_endpoint, MoveAcceptToken& token) {
    return async_initiate<MoveAcceptToken, void(error_code, socket_on<Executor1>)>(
        initiate_move_accept(*this), token, ex, peer_endpoint);
  }

  template <class Socket>
  void accept_into(Socket& peer, endpoint_type* peer_endpoint, error_code& ec) {
    if (peer.is_open()) {
      ec = error::already_open;
      return;
    }
    endpoint_type address;
    std::size_t size = address.capacity();
    const int fd = this->handle().accept(peer_endpoint ? address.data() : nullptr,
                                         peer_endpoint ? &size : nullptr, ec);
    if (fd < 0)
      return;
    ec = detail::socket_access::adopt(peer, this->protocol(), fd);
    if (ec) {
      detail::close_descriptor(fd);
    } else if (peer_endpoint) {
      address.resize(size);
      *peer_endpoint = address;
    }
  }
};

}  // namespace WEFT_NAMESPACE
