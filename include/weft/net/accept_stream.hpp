// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/stream.hpp>
#include <weft/net/basic_socket_acceptor.hpp>

namespace WEFT_NAMESPACE {

/// Accepts connections and, on io_uring, without a request to the kernel for each: it takes
/// connections that nobody has asked for yet (multishot accept, Linux 5.19) and hands them out in
/// order. On epoll it takes them when asked; to the user all is the same.
///
/// Backpressure: when `max_held` connections are held unasked for, the stream takes no more until
/// they are consumed; further ones wait in the acceptor's queue (see `listen`). On io_uring the
/// kernel hears of that when the context is next polled: until then it may take more.
///
/// While the stream lives, do not accept by other means as well: the order would be lost. The
/// stream serves the descriptor the acceptor has when the stream is made, also after the acceptor
/// is moved; closed, or opened anew, that gives bad_descriptor.
///
/// Closing: when the acceptor's `close()` or `release()`, or the stream's `stop()` or destructor
/// returns, no connection is taken any more. Those held then: `stop()` leaves them to be accepted;
/// otherwise they are closed, with the stream at the latest.
///
/// Thread safety: `async_accept`, `cancel` and `stop` may be called from several threads at once;
/// moving and destroying not. Complexity: O(1) each, but `stop`, which waits for the kernel.
///
///     accept_stream stream(acceptor);
///     stream.async_accept([&](error_code ec, ip::tcp::socket peer) { ... });
template <class Acceptor>
class accept_stream {
 public:
  using executor_type = typename Acceptor::executor_type;
  using protocol_type = typename Acceptor::protocol_type;
  using socket_type =
      typename protocol_type::socket::template rebind_executor<executor_type>::other;

  static constexpr std::size_t default_max_held = 16;

  /// A stream on a listening acceptor; it takes nothing before the first `async_accept`. `max_held`
  /// is at least 1. Set the option enable_connection_aborted before. Throws std::bad_alloc, and
  /// system_error if the descriptor cannot be made non-blocking.
  explicit accept_stream(Acceptor& acceptor, std::size_t max_held = default_max_held)
      : executor_(acceptor.get_executor()),
        protocol_(detail::socket_access::protocol(acceptor)),
        stream_(prepared(detail::socket_access::handle(acceptor)), max_held,
                detail::socket_access::handle(acceptor).reports_aborted_connections()) {}

  /// What is pending goes on undisturbed. `other` may only be destroyed.
  accept_stream(accept_stream&& other) noexcept = default;
  accept_stream& operator=(accept_stream&&) = delete;

  /// As `cancel()` and `stop()`; connections held are closed.
  ~accept_stream() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Gives the next connection. Several may wait; they are served in the order they were started.
  /// Completion: void(error_code, socket_type); on an error the socket is closed. Errors are those
  /// of an acceptor, each reported after the connections before it, to one operation; the next
  /// tries again, at the descriptor limit after the pause described there. operation_aborted once
  /// the stream is stopped and all it held are accepted. no_memory, in its turn, if connections had
  /// to be closed because there was no memory to hold them until they are asked for. Throws
  /// std::bad_alloc; what an accept needs to make a socket it takes before it takes a connection.
  ///
  /// Cancellation: terminal, partial and total end the wait with operation_aborted. No connection
  /// is lost: one that was taken goes to the next operation, or is reported with success.
  template <completion_token_for<void(error_code, socket_type)> AcceptToken =
                default_completion_token_t<executor_type>>
  auto async_accept(AcceptToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<AcceptToken, void(error_code, socket_type)>(initiate_accept(*this),
                                                                      token);
  }

  /// Cancels the accepts that are pending. Connections taken are kept, and the stream goes on.
  void cancel() noexcept { stream_.cancel(); }

  /// Ends the taking, for good. Accepts go on to deliver what is held, then end with
  /// operation_aborted.
  void stop() noexcept { stream_.stop(); }

 private:
  class initiate_accept {
   public:
    using executor_type = accept_stream::executor_type;

    explicit initiate_accept(accept_stream& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      detail::start_stream_io<detail::accept_next_socket_operation<socket_type>>(
          self_->stream_, own, get_executor(), get_executor(), self_->protocol_);
    }

   private:
    accept_stream* self_;
  };

  static detail::socket_handle& prepared(detail::socket_handle& handle) {
    if (handle.is_open())
      detail::throw_if(handle.make_asynchronous(), "accept_stream");
    return handle;
  }

  executor_type executor_;
  protocol_type protocol_;
  detail::stream_handle stream_;
};

}  // namespace WEFT_NAMESPACE
