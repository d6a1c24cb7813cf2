// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/receive.hpp>
#include <weft/io/op/send.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE {

/// A connection that keeps the bounds of records, as of local::seq_packet_protocol. What all
/// sockets can do, and the rules on order, cancellation and thread safety, stand at basic_socket.
///
/// A sequence of buffers makes one record; up to 64 of them that are not empty are used. An empty
/// record cannot be told from the end of the connection: receiving reports success and 0 bytes for
/// both.
///
/// Asynchronous calls copy the sequence, not the bytes: these, and the flags that `receive` writes,
/// must stay valid until the handler is called. Completion: void(error_code, std::size_t bytes).
/// Cancelled, no record is lost: one that was taken is reported with success.
///
///     local::seq_packet_protocol::socket a(context), b(context);
///     local::connect_pair(a, b);
///     a.send(buffer("record"), 0);
template <class Protocol, class Executor>
class basic_seq_packet_socket : public basic_socket<Protocol, Executor> {
  using base = basic_socket<Protocol, Executor>;

 public:
  using typename base::executor_type;
  using message_flags = socket_base::message_flags;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_seq_packet_socket<Protocol, Executor1>;
  };

  /// Constructors and assignment: as basic_socket.
  using base::base;
  basic_seq_packet_socket(basic_seq_packet_socket&&) noexcept = default;
  basic_seq_packet_socket& operator=(basic_seq_packet_socket&&) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_seq_packet_socket<Protocol1, Executor1>, basic_seq_packet_socket>)
  basic_seq_packet_socket& operator=(basic_seq_packet_socket<Protocol1, Executor1>&& other) {
    base::operator=(std::move(other));
    return *this;
  }
  ~basic_seq_packet_socket() = default;

  /// Sends a record: sendmsg(2). Returns the number of bytes sent. `flags` may hold
  /// message_end_of_record where the protocol knows it. Fails with message_size, broken_pipe,
  /// not_connected ...
  template <detail::const_sequence ConstBufferSequence>
  std::size_t send(const ConstBufferSequence& buffers, message_flags flags) {
    error_code ec;
    const std::size_t n = send(buffers, flags, ec);
    detail::throw_if(ec, "send");
    return n;
  }
  template <detail::const_sequence ConstBufferSequence>
  std::size_t send(const ConstBufferSequence& buffers, message_flags flags, error_code& ec) {
    detail::buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
    detail::message_header header;
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    return this->handle().send(header, flags, ec);
  }

  /// The same, asynchronously.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; a record that was sent is reported with success.
  template <detail::const_sequence ConstBufferSequence,
            completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send(const ConstBufferSequence& buffers, message_flags flags,
                  WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(initiate_send(*this), token,
                                                                     buffers, flags);
  }

  /// Receives a record: recvmsg(2). Returns its size in bytes, at most that of the buffers: the
  /// rest of a longer one is lost (MSG_TRUNC in `out_flags`). `out_flags`: what the system says of
  /// the record, message_end_of_record for one. Fails with connection_reset ...
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags& out_flags) {
    return receive(buffers, 0, out_flags);
  }
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags in_flags,
                      message_flags& out_flags) {
    error_code ec;
    const std::size_t n = receive(buffers, in_flags, out_flags, ec);
    detail::throw_if(ec, "receive");
    return n;
  }
  template <detail::mutable_sequence MutableBufferSequence>
  std::size_t receive(const MutableBufferSequence& buffers, message_flags in_flags,
                      message_flags& out_flags, error_code& ec) {
    detail::buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
    detail::message_header header;
    header.vectors = adapter.vectors();
    header.count = adapter.count();
    const std::size_t n =
        this->handle().receive(header, in_flags, detail::receive_mode::datagram, ec);
    out_flags = ec ? 0 : header.flags;
    return n;
  }

  /// The same, asynchronously. `out_flags` is written when the operation completes.
  /// Completion: void(error_code, std::size_t bytes).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; no record is lost.
  template <detail::mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive(const MutableBufferSequence& buffers, message_flags& out_flags,
                     ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_receive(buffers, message_flags(0), out_flags, std::forward<ReadToken>(token));
  }
  template <detail::mutable_sequence MutableBufferSequence,
            completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive(const MutableBufferSequence& buffers, message_flags in_flags,
                     message_flags& out_flags,
                     ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(initiate_receive(*this), token,
                                                                    buffers, in_flags, &out_flags);
  }

 private:
  class initiate_send : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class ConstBufferSequence>
    void operator()(Handler&& handler, const ConstBufferSequence& buffers,
                    message_flags flags) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      detail::start_send<detail::max_io_vectors>(this->handle(), own, this->get_executor(), buffers,
                                                 flags);
    }
  };

  class initiate_receive : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler, class MutableBufferSequence>
    void operator()(Handler&& handler, const MutableBufferSequence& buffers, message_flags in_flags,
                    message_flags* out_flags) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      detail::start_io<detail::receive_with_flags_operation<MutableBufferSequence>>(
          this->handle(), own, this->get_executor(), buffers, in_flags, *out_flags);
    }
  };
};

}  // namespace WEFT_NAMESPACE
