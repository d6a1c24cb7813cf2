// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/execution/executor.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class T>
concept any_executor_type = is_executor<T>::value || execution::is_executor_v<T>;

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
class basic_socket_acceptor : public socket_base {
 public:
  using executor_type = Executor;
  using native_handle_type = int;
  using protocol_type = Protocol;
  using endpoint_type = typename Protocol::endpoint;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_socket_acceptor<Protocol, Executor1>;
  };

 private:
  template <class Executor1>
  using socket_on = typename Protocol::socket::template rebind_executor<Executor1>::other;

 public:
  /// A closed acceptor.
  explicit basic_socket_acceptor(const executor_type& ex)
      : executor_(ex), handle_(detail::executor_context(executor_)) {}
  template <detail::context_of_executor<Executor> ExecutionContext>
  explicit basic_socket_acceptor(ExecutionContext& context)
      : basic_socket_acceptor(context.get_executor()) {}

  /// An open acceptor, which neither is bound nor listens; throws as `open`.
  basic_socket_acceptor(const executor_type& ex, const protocol_type& protocol)
      : basic_socket_acceptor(ex) {
    open(protocol);
  }
  template <detail::context_of_executor<Executor> ExecutionContext>
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
  template <detail::context_of_executor<Executor> ExecutionContext>
  basic_socket_acceptor(ExecutionContext& context, const endpoint_type& endpoint,
                        bool reuse_addr = true)
      : basic_socket_acceptor(context.get_executor(), endpoint, reuse_addr) {}

  /// An acceptor that takes over a descriptor; throws as `assign`.
  basic_socket_acceptor(const executor_type& ex, const protocol_type& protocol,
                        const native_handle_type& native_acceptor)
      : basic_socket_acceptor(ex) {
    assign(protocol, native_acceptor);
  }
  template <detail::context_of_executor<Executor> ExecutionContext>
  basic_socket_acceptor(ExecutionContext& context, const protocol_type& protocol,
                        const native_handle_type& native_acceptor)
      : basic_socket_acceptor(context.get_executor(), protocol, native_acceptor) {}

  /// Takes over the descriptor with what is pending on it. `other` is left closed.
  basic_socket_acceptor(basic_socket_acceptor&& other) noexcept
      : executor_(other.executor_), protocol_(other.protocol_), handle_(std::move(other.handle_)) {}
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket_acceptor<Protocol1, Executor1>, basic_socket_acceptor>)
  basic_socket_acceptor(basic_socket_acceptor<Protocol1, Executor1>&& other)
      : executor_(other.executor_), protocol_(other.protocol_), handle_(std::move(other.handle_)) {}

  /// Closes this acceptor first, as the destructor does.
  basic_socket_acceptor& operator=(basic_socket_acceptor&& other) {
    handle_ = std::move(other.handle_);
    executor_ = other.executor_;
    protocol_ = other.protocol_;
    return *this;
  }
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_socket_acceptor<Protocol1, Executor1>, basic_socket_acceptor>)
  basic_socket_acceptor& operator=(basic_socket_acceptor<Protocol1, Executor1>&& other) {
    return *this = basic_socket_acceptor(std::move(other));
  }

  /// Cancels what is pending, as `cancel()`, and closes the acceptor, ignoring errors.
  ~basic_socket_acceptor() = default;

  const executor_type& get_executor() noexcept { return executor_; }

  /// As basic_socket::open.
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

  /// As basic_socket::assign.
  void assign(const protocol_type& protocol, const native_handle_type& native_acceptor) {
    error_code ec;
    assign(protocol, native_acceptor, ec);
    detail::throw_if(ec, "assign");
  }
  void assign(const protocol_type& protocol, const native_handle_type& native_acceptor,
              error_code& ec) {
    ec = handle_.assign(protocol.type(), native_acceptor);
    if (!ec)
      protocol_ = protocol;
  }

  bool is_open() const noexcept { return handle_.is_open(); }

  /// As basic_socket::bind.
  void bind(const endpoint_type& endpoint) {
    error_code ec;
    bind(endpoint, ec);
    detail::throw_if(ec, "bind");
  }
  void bind(const endpoint_type& endpoint, error_code& ec) {
    ec = handle_.bind(endpoint.data(), endpoint.size());
  }

  /// Lets connections come in: listen(2). `backlog`: how many may wait to be accepted; the kernel
  /// cuts it down to net.core.somaxconn.
  void listen(int backlog = socket_base::max_listen_connections) {
    error_code ec;
    listen(backlog, ec);
    detail::throw_if(ec, "listen");
  }
  void listen(int backlog, error_code& ec) { ec = handle_.listen(backlog); }

  /// As basic_socket::close: when it returns, the port is free and no connection is taken any more.
  void close() {
    error_code ec;
    close(ec);
    detail::throw_if(ec, "close");
  }
  void close(error_code& ec) { ec = handle_.close(); }

  /// As basic_socket::release.
  native_handle_type release() {
    error_code ec;
    const native_handle_type fd = release(ec);
    detail::throw_if(ec, "release");
    return fd;
  }
  native_handle_type release(error_code& ec) { return handle_.release(ec); }

  native_handle_type native_handle() noexcept { return handle_.native_handle(); }

  /// Cancels all asynchronous operations on the acceptor.
  void cancel() {
    error_code ec;
    cancel(ec);
    detail::throw_if(ec, "cancel");
  }
  void cancel(error_code& ec) {
    ec = handle_.cancel() ? error_code() : error_code(error::bad_descriptor);
  }

  /// As basic_socket::set_option.
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

  /// As basic_socket::get_option.
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

  /// As basic_socket::io_control.
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

  /// As basic_socket::non_blocking, of `accept` and `wait`.
  bool non_blocking() const noexcept { return handle_.non_blocking(); }
  void non_blocking(bool mode) {
    error_code ec;
    non_blocking(mode, ec);
    detail::throw_if(ec, "non_blocking");
  }
  void non_blocking(bool mode, error_code& ec) { ec = handle_.non_blocking(mode); }

  /// As basic_socket::native_non_blocking; starting an asynchronous accept sets it.
  bool native_non_blocking() const noexcept { return handle_.native_non_blocking(); }
  void native_non_blocking(bool mode) {
    error_code ec;
    native_non_blocking(mode, ec);
    detail::throw_if(ec, "native_non_blocking");
  }
  void native_non_blocking(bool mode, error_code& ec) { ec = handle_.native_non_blocking(mode); }

  /// The address the acceptor is bound to: getsockname(2). Tells the port that port 0 became.
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

  /// Waits until a connection can be accepted (`wait_read`), or an error is pending.
  void wait(wait_type what) {
    error_code ec;
    wait(what, ec);
    detail::throw_if(ec, "wait");
  }
  void wait(wait_type what, error_code& ec) { ec = handle_.wait(detail::wait_queue(what)); }

  /// The same. Completion: void(error_code). It takes its turn among the accepts.
  template <
      completion_token_for<void(error_code)> WaitToken = default_completion_token_t<executor_type>>
  auto async_wait(wait_type what, WaitToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WaitToken, void(error_code)>(initiate_wait(*this), token, what);
  }

  // ---- accepting into a socket of the caller's, which has to be closed (else already_open)

  /// Accepts a connection into `peer`.
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

  /// The same, asynchronously. Completion: void(error_code). `peer` and `peer_endpoint` must live
  /// until then; they are written when the handler is called.
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

  /// Accepts a connection. An error: the socket is closed.
  socket_on<executor_type> accept() { return accept(executor_); }
  socket_on<executor_type> accept(error_code& ec) { return accept(executor_, ec); }
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
    return accept(executor_, peer_endpoint);
  }
  socket_on<executor_type> accept(endpoint_type& peer_endpoint, error_code& ec) {
    return accept(executor_, peer_endpoint, ec);
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

  /// The same, asynchronously. Completion: void(error_code, socket), with the type of socket that
  /// `accept` with the same executor returns, or one it converts to.
  template <completion_token_for<void(error_code, socket_on<executor_type>)> MoveAcceptToken =
                default_completion_token_t<executor_type>>
  auto async_accept(MoveAcceptToken&& token = default_completion_token_t<executor_type>()) {
    return start_accept(executor_, static_cast<endpoint_type*>(nullptr), token);
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
    return start_accept(executor_, &peer_endpoint, token);
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
  template <class, class>
  friend class basic_socket_acceptor;
  friend struct detail::socket_access;

  class initiation_base {
   public:
    using executor_type = Executor;

    explicit initiation_base(basic_socket_acceptor& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

   protected:
    /// Starts an accept, or reports why it cannot begin with `failure(error)`.
    template <class Operation, class Handler, class Failure, class... Args>
    void start(Handler& handler, error_code ec, Failure failure, Args&&... args) const {
      detail::socket_handle& handle = self_->handle_;
      if (!ec && handle.is_open())
        ec = handle.make_asynchronous();
      if (ec)
        failure(handle.owner(), handler, ec);
      else
        detail::start_io<Operation>(handle, handler, get_executor(),
                                    handle.reports_aborted_connections(),
                                    std::forward<Args>(args)...);
    }
    basic_socket_acceptor& acceptor() const noexcept { return *self_; }

   private:
    basic_socket_acceptor* self_;
  };

  class initiate_wait : public initiation_base {
   public:
    using initiation_base::initiation_base;
    template <class Handler>
    void operator()(Handler&& handler, wait_type what) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      detail::start_io<detail::readiness_operation>(this->acceptor().handle_, own,
                                                    this->get_executor(), detail::wait_queue(what));
    }
  };

  class initiate_accept : public initiation_base {
   public:
    using initiation_base::initiation_base;
    template <class Handler, class Socket>
    void operator()(Handler&& handler, Socket* peer, endpoint_type* peer_endpoint) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      this->template start<detail::accept_into_operation<Socket, endpoint_type>>(
          own, peer->is_open() ? error_code(error::already_open) : error_code(),
          [this](detail::scheduler& owner, auto& h, error_code ec) {
            detail::complete_now(owner, h, this->get_executor(), ec);
          },
          *peer, this->acceptor().protocol_, peer_endpoint);
    }
  };

  class initiate_move_accept : public initiation_base {
   public:
    using initiation_base::initiation_base;
    template <class Handler, class Executor1>
    void operator()(Handler&& handler, const Executor1& ex, endpoint_type* peer_endpoint) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      using socket = socket_on<Executor1>;
      this->template start<detail::accept_new_operation<socket, endpoint_type>>(
          own, error_code(),
          [this, &ex](detail::scheduler& owner, auto& h, error_code ec) {
            detail::complete_now(owner, h, this->get_executor(), ec, socket(ex));
          },
          ex, this->acceptor().protocol_, peer_endpoint);
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
    const int fd = handle_.accept(peer_endpoint ? address.data() : nullptr,
                                  peer_endpoint ? &size : nullptr, ec);
    if (fd < 0)
      return;
    ec = detail::socket_access::adopt(peer, protocol_, fd);
    if (ec) {
      detail::close_descriptor(fd);
    } else if (peer_endpoint) {
      address.resize(size);
      *peer_endpoint = address;
    }
  }

  Executor executor_;
  Protocol protocol_{endpoint_type().protocol()};
  detail::socket_handle handle_;
};

}  // namespace WEFT_NAMESPACE
