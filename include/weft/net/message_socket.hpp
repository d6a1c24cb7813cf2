// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/receive.hpp>
#include <weft/io/op/send.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE::detail {

/// What basic_datagram_socket and basic_raw_socket have in common: messages, each with an address.
///
/// A sequence of buffers makes one message; up to 64 of them that are not empty are used.
///
/// Asynchronous calls copy the sequence, not the bytes: these, and the endpoint that `receive_from`
/// writes, must stay valid until the handler is called; the destination of `send_to` is copied.
/// Completion: void(error_code, std::size_t bytes). Cancelled, no message is lost: one that was
/// taken is reported with success.
template <class Protocol, class Executor>
class message_socket : public basic_socket<Protocol, Executor> {
  using base = basic_socket<Protocol, Executor>;

 public:
  using typename base::endpoint_type;
  using typename base::executor_type;
  using message_flags = socket_base::message_flags;

  /// Constructors and assignment: as basic_socket.
  using base::base;
  message_socket(message_socket&&) noexcept = default;
  message_socket& operator=(message_socket&&) = default;

  /// Sends a message to the peer the socket is connected to: send(2) or sendmsg(2). Returns the
  /// number of bytes sent. Fails with message_size, connection_refused (an earlier one was
  /// refused), EDESTADDRREQ if not connected ...
  template <const_sequence ConstBufferSequence>
  std::size_t send(const ConstBufferSequence& buffers, message_flags flags = 0) {
    error_code ec;
    const std::size_t n = send(buffers, flags, ec);
    throw_if(ec, "send");
    return n;
  }
  template <const_sequence ConstBufferSequence>
  std::size_t send(const ConstBufferSequence& buffers, message_flags flags, error_code& ec) {
    buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
    message_header header;
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    return this->handle().send(header, flags, ec);
  }

  /// The same, asynchronously.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; a message that was sent is reported with success.
  template <const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send(const ConstBufferSequence& buffers,
                  WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_send(buffers, message_flags(0), std::forward<WriteToken>(token));
  }
  template <const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send(const ConstBufferSequence& buffers, message_flags flags,
                  WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(initiate_send(*this), token,
                                                                     buffers, flags);
  }

  /// Sends a message to `destination`: sendmsg(2). Fails with message_size, network_unreachable,
  /// access_denied (a broadcast without the option) ...
  template <const_sequence ConstBufferSequence>
  std::size_t send_to(const ConstBufferSequence& buffers, const endpoint_type& destination,
                      message_flags flags = 0) {
    error_code ec;
    const std::size_t n = send_to(buffers, destination, flags, ec);
    throw_if(ec, "send_to");
    return n;
  }
  template <const_sequence ConstBufferSequence>
  std::size_t send_to(const ConstBufferSequence& buffers, const endpoint_type& destination,
                      message_flags flags, error_code& ec) {
    buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
    endpoint_type address(destination);
    message_header header;
    header.name = address.data();
    header.name_size = static_cast<std::uint32_t>(address.size());
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    return this->handle().send(header, flags, ec);
  }

  /// The same, asynchronously.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; a message that was sent is reported with success.
  template <const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send_to(const ConstBufferSequence& buffers, const endpoint_type& destination,
                     WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_send_to(buffers, destination, message_flags(0), std::forward<WriteToken>(token));
  }
  template <const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send_to(const ConstBufferSequence& buffers, const endpoint_type& destination,
                     message_flags flags,
                     WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(initiate_send_to(*this), token,
                                                                     buffers, destination, flags);
  }

  /// Receives a message: recvmsg(2). Returns its size in bytes, at most that of the buffers: the
  /// rest of a longer one is lost. Fails with connection_refused (an earlier one was refused) ...
  template <mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags flags = 0) {
    error_code ec;
    const std::size_t n = receive(buffers, flags, ec);
    throw_if(ec, "receive");
    return n;
  }
  template <mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags flags, error_code& ec) {
    buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
    message_header header;
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    return this->handle().receive(header, flags, receive_mode::datagram, ec);
  }

  /// The same, asynchronously: recv(2) or recvmsg(2).
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; no message is lost.
  template <mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive(const MutableBufferSequence& buffers,
                     ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_receive(buffers, message_flags(0), std::forward<ReadToken>(token));
  }
  template <mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive(const MutableBufferSequence& buffers, message_flags flags,
                     ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(initiate_receive(*this), token,
                                                                    buffers, flags);
  }

  /// Receives a message and the address of its sender: recvmsg(2). A failure leaves
  /// `sender_endpoint` as it was.
  template <mutable_sequence MutableBufferSequence>
  std::size_t receive_from(const MutableBufferSequence& buffers, endpoint_type& sender_endpoint,
                           message_flags flags = 0) {
    error_code ec;
    const std::size_t n = receive_from(buffers, sender_endpoint, flags, ec);
    throw_if(ec, "receive_from");
    return n;
  }
  template <mutable_sequence MutableBufferSequence>
  std::size_t receive_from(const MutableBufferSequence& buffers, endpoint_type& sender_endpoint,
                           message_flags flags, error_code& ec) {
    buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
    endpoint_type address;
    message_header header;
    header.name = address.data();
    header.name_size = static_cast<std::uint32_t>(address.capacity());
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    const std::size_t n = this->handle().receive(header, flags, receive_mode::datagram, ec);
    if (!ec) {
      const std::size_t size = header.name_size;
      address.resize(size < address.capacity() ? size : address.capacity());
      sender_endpoint = address;
    }
    return n;
  }

  /// The same, asynchronously.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; no message is lost.
  template <mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive_from(const MutableBufferSequence& buffers, endpoint_type& sender_endpoint,
                          ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_receive_from(buffers, sender_endpoint, message_flags(0),
                              std::forward<ReadToken>(token));
  }
  template <mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive_from(const MutableBufferSequence& buffers, endpoint_type& sender_endpoint,
                          message_flags flags,
                          ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(
        initiate_receive_from(*this), token, buffers, &sender_endpoint, flags);
  }

 protected:
  ~message_socket() = default;

 private:
  class initiate_send : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class ConstBufferSequence>
    void operator()(Handler&& handler, const ConstBufferSequence& buffers,
                    message_flags flags) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      start_send<max_io_vectors>(this->handle(), own, this->get_executor(), buffers, flags);
    }
  };

  class initiate_send_to : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class ConstBufferSequence>
    void operator()(Handler&& handler, const ConstBufferSequence& buffers,
                    const endpoint_type& destination, message_flags flags) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      start_io<send_to_operation<endpoint_type, ConstBufferSequence>>(
          this->handle(), own, this->get_executor(), buffers, destination, flags);
    }
  };

  class initiate_receive : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class MutableBufferSequence>
    void operator()(Handler&& handler, const MutableBufferSequence& buffers,
                    message_flags flags) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      start_receive<max_io_vectors>(this->handle(), own, this->get_executor(), buffers, flags,
                                    receive_mode::datagram);
    }
  };

  class initiate_receive_from : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class MutableBufferSequence>
    void operator()(Handler&& handler, const MutableBufferSequence& buffers, endpoint_type* sender,
                    message_flags flags) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      start_io<receive_from_operation<endpoint_type, MutableBufferSequence>>(
          this->handle(), own, this->get_executor(), buffers, *sender, flags);
    }
  };
};

}  // namespace WEFT_NAMESPACE::detail
