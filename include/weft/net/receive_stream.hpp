// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/stream.hpp>
#include <weft/net/basic_stream_socket.hpp>

namespace WEFT_NAMESPACE {

/// Receives a stream of bytes without a buffer of the caller's and, on io_uring, without a request
/// to the kernel for each piece: it takes bytes that nobody has asked for yet (multishot recv with
/// a ring of buffers, Linux 6.0) and hands them out in order. On epoll, or where the kernel cannot,
/// it takes bytes when asked; to the user all is the same.
///
/// The memory, in pieces of 4 KiB, is the context's and shared by its streams: an idle connection
/// holds none. While all that the kernel may use (4 MiB) is owned by users, streams go on with
/// buffers of their own.
///
/// Backpressure: when `max_held` pieces are held unasked for, the stream takes no more until they
/// are consumed; the peer's writes will block in time. On io_uring the kernel hears of that when
/// the context is next polled: until then it may fill what buffers it has.
///
/// While the stream lives, other reads on the socket would get bytes from the middle of the stream:
/// do not mix them. Writes are independent. The stream serves the descriptor the socket has when
/// the stream is made, also after the socket is moved; closed, or opened anew, that gives
/// bad_descriptor.
///
/// Closing: when the socket's `close()` or `release()`, or the stream's `stop()` or destructor
/// returns, nothing more is taken. What is held then: `stop()` leaves it to be received; `close()`
/// and the destructor drop it, as closing drops what the kernel holds. So before `release()`, and
/// before plain reads follow, call `stop()` and receive until operation_aborted.
///
/// Thread safety: `async_receive`, `cancel` and `stop` may be called from several threads at once;
/// moving and destroying not. Complexity: O(1) each, but `stop`, which waits for the kernel.
///
///     receive_stream stream(socket);
///     stream.async_receive([&](error_code ec, received_buffer bytes) { ... });
template <class Socket>
class receive_stream {
 public:
  using executor_type = typename Socket::executor_type;

  static constexpr std::size_t default_max_held = 16;

  /// A stream on an open socket; it takes nothing before the first `async_receive`. `max_held` is
  /// at least 1. Throws std::bad_alloc.
  explicit receive_stream(Socket& socket, std::size_t max_held = default_max_held)
      : executor_(socket.get_executor()),
        stream_(detail::socket_access::handle(socket), max_held, mode(socket)) {}

  /// What is pending goes on undisturbed. `other` may only be destroyed.
  receive_stream(receive_stream&& other) noexcept = default;
  receive_stream& operator=(receive_stream&&) = delete;

  /// As `cancel()` and `stop()`; what is held is dropped.
  ~receive_stream() = default;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Receives the next piece: at least one byte, at most 4096. Several may wait; they are served in
  /// the order they were started. Completion: void(error_code, received_buffer), with an empty
  /// buffer on an error: eof once the peer has finished sending, connection_reset ...; each is
  /// reported after the bytes before it, to one operation, and the next tries again.
  /// operation_aborted once the stream is stopped and all it held is received.
  ///
  /// Cancellation: terminal, partial and total end the wait with operation_aborted. No byte is
  /// lost: what was taken goes to the next operation, or is reported with success.
  template <completion_token_for<void(error_code, received_buffer)> ReceiveToken =
                default_completion_token_t<executor_type>>
  auto async_receive(ReceiveToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ReceiveToken, void(error_code, received_buffer)>(initiate_receive(*this),
                                                                           token);
  }

  /// Cancels the receives that are pending. What was taken is kept, and the stream goes on.
  void cancel() noexcept { stream_.cancel(); }

  /// Ends the taking, for good. Receives go on to deliver what is held, then end with
  /// operation_aborted.
  void stop() noexcept { stream_.stop(); }

 private:
  class initiate_receive {
   public:
    using executor_type = receive_stream::executor_type;

    explicit initiate_receive(receive_stream& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->executor_; }

    template <class Handler>
    void operator()(Handler&& handler) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      detail::start_stream_io<detail::receive_next_operation>(self_->stream_, own, get_executor());
    }

   private:
    receive_stream* self_;
  };

  static detail::receive_mode mode(Socket& socket) noexcept {
    return detail::socket_access::protocol(socket).family() == detail::os::af_unix
               ? detail::receive_mode::unix_stream
               : detail::receive_mode::stream;
  }

  executor_type executor_;
  detail::stream_handle stream_;
};

}  // namespace WEFT_NAMESPACE
