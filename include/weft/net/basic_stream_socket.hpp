// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/receive.hpp>
#include <weft/io/op/send.hpp>
#include <weft/io/whole_transfer.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE {

/// A connected stream of bytes, as of ip::tcp or local::stream_protocol. What all sockets can do,
/// and the rules on order, cancellation and thread safety, stand at basic_socket.
///
/// A call transfers at least one byte (unless all buffers are empty: then it succeeds at once, on a
/// closed socket with bad_descriptor) and at most what the buffers hold; `read` and `write` of
/// <weft/io/read.hpp> and <weft/io/write.hpp> go on until all is done. Of a sequence of which the
/// type does not tell the length, an asynchronous call takes up to 16 buffers that are not empty,
/// a synchronous one up to 64.
///
/// Errors of receiving: eof once the peer has finished sending, connection_reset, not_connected ...
/// Errors of sending: broken_pipe, connection_reset, not_connected ... A partial transfer reports
/// success; the error comes with the next call.
///
/// Asynchronous calls copy the sequence, not the bytes: these must stay valid until the handler is
/// called. Completion: void(error_code, std::size_t bytes). Cancelled, no byte is lost: what was
/// transferred is reported with success.
///
///     ip::tcp::socket socket(context);
///     socket.connect({ip::address_v4::loopback(), 7});
///     socket.async_read_some(buffer(data), [](error_code ec, std::size_t n) { ... });
template <class Protocol, class Executor>
class basic_stream_socket : public basic_socket<Protocol, Executor> {
  using base = basic_socket<Protocol, Executor>;

 public:
  using typename base::executor_type;
  using message_flags = socket_base::message_flags;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_stream_socket<Protocol, Executor1>;
  };

  /// Constructors and assignment: as basic_socket.
  using base::base;
  basic_stream_socket(basic_stream_socket&&) noexcept = default;
  basic_stream_socket& operator=(basic_stream_socket&&) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_stream_socket<Protocol1, Executor1>, basic_stream_socket>)
  basic_stream_socket& operator=(basic_stream_socket<Protocol1, Executor1>&& other) {
    base::operator=(std::move(other));
    return *this;
  }
  ~basic_stream_socket() = default;

  /// Sends: send(2) or sendmsg(2). Returns the number of bytes sent, 0 after an error. Linear in
  /// the number of buffers. `flags`: message_out_of_band, message_do_not_route.
  template <detail::const_sequence ConstBufferSequence>
  std::size_t send(const ConstBufferSequence& buffers, message_flags flags = 0) {
    error_code ec;
    const std::size_t n = send(buffers, flags, ec);
    detail::throw_if(ec, "send");
    return n;
  }
  template <detail::const_sequence ConstBufferSequence>
  std::size_t send(const ConstBufferSequence& buffers, message_flags flags, error_code& ec) {
    detail::buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
    if (adapter.all_empty()) {
      ec = this->is_open() ? error_code() : error_code(error::bad_descriptor);
      return 0;
    }
    detail::message_header header;
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    return this->handle().send(header, flags, ec);
  }

  /// Sends, asynchronously.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: those of sending; operation_aborted.
  /// Cancellation: terminal, partial and total; what was sent is reported with success.
  template <detail::const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send(const ConstBufferSequence& buffers,
                  WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_send(buffers, message_flags(0), std::forward<WriteToken>(token));
  }
  template <detail::const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send(const ConstBufferSequence& buffers, message_flags flags,
                  WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(initiate_send(*this), token,
                                                                     buffers, flags);
  }

  /// Receives: recv(2) or recvmsg(2). Returns the number of bytes received, 0 after an error.
  /// Linear in the number of buffers. `flags`: message_peek, message_out_of_band.
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags flags = 0) {
    error_code ec;
    const std::size_t n = receive(buffers, flags, ec);
    detail::throw_if(ec, "receive");
    return n;
  }
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags flags, error_code& ec) {
    detail::buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
    detail::message_header header;
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    return this->handle().receive(header, flags, mode(this->protocol()), ec);
  }

  /// Receives, asynchronously.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: those of receiving; operation_aborted.
  /// Cancellation: terminal, partial and total; no byte is lost.
  template <detail::mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive(const MutableBufferSequence& buffers,
                     ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_receive(buffers, message_flags(0), std::forward<ReadToken>(token));
  }
  template <detail::mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive(const MutableBufferSequence& buffers, message_flags flags,
                     ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(initiate_receive(*this), token,
                                                                    buffers, flags);
  }

  // ---- what makes it a SyncReadStream, SyncWriteStream, AsyncReadStream and AsyncWriteStream

  /// As `send` without flags.
  template <detail::const_sequence ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers) {
    return send(buffers);
  }
  template <detail::const_sequence ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers, error_code& ec) {
    return send(buffers, 0, ec);
  }
  /// As `async_send` without flags.
  template <detail::const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_write_some(const ConstBufferSequence& buffers,
                        WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_send(buffers, message_flags(0), std::forward<WriteToken>(token));
  }

  /// As `receive` without flags.
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers) {
    return receive(buffers);
  }
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers, error_code& ec) {
    return receive(buffers, 0, ec);
  }
  /// As `async_receive` without flags.
  template <detail::mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_read_some(const MutableBufferSequence& buffers,
                       ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_receive(buffers, message_flags(0), std::forward<ReadToken>(token));
  }

 private:
  static detail::receive_mode mode(const Protocol& protocol) noexcept {
    return protocol.family() == detail::os::af_unix ? detail::receive_mode::unix_stream
                                                    : detail::receive_mode::stream;
  }

  class initiate_send : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class ConstBufferSequence>
    void operator()(Handler&& handler, const ConstBufferSequence& buffers,
                    message_flags flags) const {
      detail::with_handler(std::forward<Handler>(handler), [&](auto& own) {
        using adapter = detail::buffer_sequence_adapter<const_buffer, ConstBufferSequence>;
        detail::start_send<detail::max_stream_vectors>(
            this->handle(), own, this->get_executor(), buffers, flags,
            outcome(this->handle(), adapter::all_empty(buffers)));
      });
    }
  };

  class initiate_receive : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class MutableBufferSequence>
    void operator()(Handler&& handler, const MutableBufferSequence& buffers,
                    message_flags flags) const {
      detail::with_handler(std::forward<Handler>(handler), [&](auto& own) {
        using adapter = detail::buffer_sequence_adapter<mutable_buffer, MutableBufferSequence>;
        detail::start_receive<detail::max_stream_vectors>(
            this->handle(), own, this->get_executor(), buffers, flags, mode(this->protocol()),
            outcome(this->handle(), adapter::all_empty(buffers)));
      });
    }
  };

  /// What is known of the outcome before anything is done.
  static const error_code* outcome(const detail::socket_handle& handle, bool all_empty) noexcept {
    return all_empty ? &detail::empty_transfer(handle.is_open()) : nullptr;
  }
};

namespace detail {

template <class Protocol, class Executor>
struct whole_transfer<basic_stream_socket<Protocol, Executor>> {
  using socket = basic_stream_socket<Protocol, Executor>;

  template <class Handler>
  static void start(socket& s, const mutable_buffer& to, Handler& handler) {
    start<receive_all_operation>(s, to, handler);
  }
  template <class Handler>
  static void start(socket& s, const const_buffer& from, Handler& handler) {
    start<send_all_operation>(s, from, handler);
  }

 private:
  template <class Operation, class Buffer, class Handler>
  static void start(socket& s, const Buffer& all, Handler& handler) {
    start_io_unless<Operation>(all.size() == 0 ? &empty_transfer(true) : nullptr,
                               socket_access::handle(s), handler, s.get_executor(), all);
  }
};

}  // namespace detail

}  // namespace WEFT_NAMESPACE
