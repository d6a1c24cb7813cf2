// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>

#include <weft/io/op/completed.hpp>
#include <weft/net/datagram.hpp>
#include <weft/net/message_socket.hpp>

namespace WEFT_NAMESPACE {

/// Messages without a connection, as of ip::udp or local::datagram_protocol: each arrives whole or
/// not at all. What all sockets can do, and the rules on order, cancellation and thread safety,
/// stand at basic_socket; the calls at message_socket. A connected one may use `send` and `receive`
/// without addresses, and hears from its peer only.
///
///     ip::udp::socket socket(context, ip::udp::endpoint(ip::udp::v4(), 7));
///     socket.async_receive_from(buffer(data), sender, [](error_code ec, std::size_t n) { ... });
///
/// Many at once go in batches, which cost a fraction of as many calls:
///
///     std::array<ip::udp::socket::incoming_datagram, 64> batch;   // each with a buffer of its own
///     socket.async_receive_batch(batch, [&](error_code ec, std::size_t n) { ... });
///
/// A batch, and the buffers and endpoints that it names, must stay valid and untouched until the
/// handler is called. Batches and single calls take their turns in one order. Nothing is allocated
/// but the operation, of which the size does not depend on that of the batch.
template <class Protocol, class Executor>
class basic_datagram_socket : public detail::message_socket<Protocol, Executor> {
  using base = detail::message_socket<Protocol, Executor>;

 public:
  using typename base::endpoint_type;
  using typename base::executor_type;
  using incoming_datagram = WEFT_NAMESPACE::incoming_datagram<endpoint_type>;
  using outgoing_datagram = WEFT_NAMESPACE::outgoing_datagram<endpoint_type>;

  template <class Executor1>
  struct rebind_executor {
    using other = basic_datagram_socket<Protocol, Executor1>;
  };

  /// Constructors and assignment: as basic_socket.
  using base::base;
  basic_datagram_socket(basic_datagram_socket&&) noexcept = default;
  basic_datagram_socket& operator=(basic_datagram_socket&&) = default;
  template <std::convertible_to<Protocol> Protocol1, std::convertible_to<Executor> Executor1>
    requires(!std::same_as<basic_datagram_socket<Protocol1, Executor1>, basic_datagram_socket>)
  basic_datagram_socket& operator=(basic_datagram_socket<Protocol1, Executor1>&& other) {
    basic_socket<Protocol, Executor>::operator=(std::move(other));
    return *this;
  }
  ~basic_datagram_socket() = default;

  /// Waits for a datagram, and receives those that are there, as many as the batch has room for:
  /// recvmmsg(2), once for 64. Returns how many: the first so many elements of the batch are
  /// written, in the order of arrival. An empty batch: 0, at once. Fails with connection_refused
  /// (one sent earlier was refused), fault (a buffer that is no memory) ... An error that comes up
  /// when some have been received is reported by the next call; but of a batch of more than 64 it
  /// may come with them. O(received).
  std::size_t receive_batch(std::span<incoming_datagram> batch) {
    error_code ec;
    const std::size_t n = receive_batch(batch, ec);
    detail::throw_if(ec, "receive_batch");
    return n;
  }
  std::size_t receive_batch(std::span<incoming_datagram> batch, error_code& ec) {
    return this->handle().receive_batch(detail::describe_batch(batch, this->protocol().family()),
                                        ec);
  }

  /// The same, asynchronously; 256 at most are received at a time, so that others have their turn.
  /// Completion: void(error_code, std::size_t received).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; no datagram is lost: what was taken is reported
  /// with success.
  template <completion_token_for<void(error_code, std::size_t)> ReadToken =
                default_completion_token_t<executor_type>>
  auto async_receive_batch(std::span<incoming_datagram> batch,
                           ReadToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(initiate_receive_batch(*this),
                                                                    token, batch);
  }

  /// Sends the datagrams of the batch, in order: sendmmsg(2), once for 64 or more. Those of one
  /// size, of at most 1452 bytes, that go to one destination one after another are handed to the
  /// kernel as one (UDP_SEGMENT, Linux 4.18), where that is possible and the socket has no
  /// ip::udp::segment_size of its own; the receivers see no difference.
  ///
  /// Returns how many were sent, if there is an error, too: then the next one is at fault. (The
  /// refusal of an earlier datagram, which the socket keeps as connection_refused, is reported only
  /// where it is the first thing that a system call finds: later on sendmmsg(2) takes it from the
  /// socket and does not tell.) Fails as send and send_to: with message_size, EDESTADDRREQ (no
  /// destination and no peer) ...; with operation_not_supported for a segment size that the socket
  /// or the kernel knows nothing of. In non-blocking mode with would_block, when no more can be
  /// sent at once. O(size of the batch).
  std::size_t send_batch(std::span<const outgoing_datagram> batch) {
    error_code ec;
    const std::size_t n = send_batch(batch, ec);
    detail::throw_if(ec, "send_batch");
    return n;
  }
  std::size_t send_batch(std::span<const outgoing_datagram> batch, error_code& ec) {
    return this->handle().send_batch(detail::describe_batch(batch, this->handle().segments()), ec);
  }

  /// The same, asynchronously; it waits for room until all have been sent. (Of room at the
  /// destination of an unconnected UNIX-domain socket the system does not tell: it is tried every
  /// 10 ms.)
  /// Completion: void(error_code, std::size_t sent).
  /// Errors: as above; operation_aborted.
  /// Cancellation: terminal, partial and total; `sent` tells how many were sent before.
  template <completion_token_for<void(error_code, std::size_t)> WriteToken =
                default_completion_token_t<executor_type>>
  auto async_send_batch(std::span<const outgoing_datagram> batch,
                        WriteToken&& token = default_completion_token_t<executor_type>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(initiate_send_batch(*this),
                                                                     token, batch);
  }

 private:
  /// An empty batch has nothing to wait for.
  template <class Handler>
  static void complete_empty(detail::socket_handle& handle, Handler& handler,
                             const executor_type& executor) {
    const error_code ec = handle.is_open() ? error_code() : error_code(error::bad_descriptor);
    detail::complete_now(handle.owner(), handler, executor, ec, std::size_t(0));
  }

  class initiate_receive_batch : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler>
    void operator()(Handler&& handler, std::span<incoming_datagram> batch) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      if (batch.empty())
        complete_empty(this->handle(), own, this->get_executor());
      else
        detail::start_io<detail::receive_batch_operation>(
            this->handle(), own, this->get_executor(),
            detail::describe_batch(batch, this->protocol().family()));
    }
  };

  class initiate_send_batch : public base::initiation_base {
   public:
    using base::initiation_base::initiation_base;
    template <class Handler>
    void operator()(Handler&& handler, std::span<const outgoing_datagram> batch) const {
      std::decay_t<Handler> own(std::forward<Handler>(handler));
      if (batch.empty())
        complete_empty(this->handle(), own, this->get_executor());
      else
        detail::start_io<detail::send_batch_operation>(
            this->handle(), own, this->get_executor(),
            detail::describe_batch(batch, this->handle().segments()));
    }
  };
};

}  // namespace WEFT_NAMESPACE
