// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <span>

#include <weft/io/op/descriptors.hpp>
#include <weft/net/basic_socket.hpp>

namespace WEFT_NAMESPACE {

/// What receive_descriptors got.
struct received_descriptors {
  std::size_t bytes = 0;
  std::size_t count = 0;  ///< How many descriptors.
};

namespace detail {

inline receive_mode mode_of_type(int type) noexcept {
  return type == os::sock_stream      ? receive_mode::unix_stream
         : type == os::sock_seqpacket ? receive_mode::record
                                      : receive_mode::datagram;
}

/// A message on a stream carries at least one byte, or its descriptors would not be sent.
template <class Sequence>
error_code check_descriptors(int type, std::span<const int> descriptors, const Sequence& buffers) {
  const bool empty = buffer_sequence_adapter<const_buffer, Sequence>::all_empty(buffers);
  if (descriptors.size() > max_descriptors || (type == os::sock_stream && empty))
    return error::invalid_argument;
  return {};
}

template <class Protocol, class Executor>
class initiate_send_descriptors {
 public:
  using executor_type = Executor;
  using socket_type = basic_socket<Protocol, Executor>;

  explicit initiate_send_descriptors(socket_type& socket) : socket_(&socket) {}
  const executor_type& get_executor() const noexcept { return socket_->get_executor(); }

  template <class Handler, class Sequence>
  void operator()(Handler&& handler, std::span<const int> descriptors,
                  const Sequence& buffers) const {
    std::decay_t<Handler> own(std::forward<Handler>(handler));
    socket_handle& handle = socket_access::handle(*socket_);
    const int type = socket_access::protocol(*socket_).type();
    if (const error_code ec = check_descriptors(type, descriptors, buffers))
      complete_now(handle.owner(), own, get_executor(), ec, std::size_t(0));
    else
      start_io<send_descriptors_operation<Sequence>>(handle, own, get_executor(), buffers,
                                                     descriptors);
  }

 private:
  socket_type* socket_;
};

template <class Protocol, class Executor>
class initiate_receive_descriptors {
 public:
  using executor_type = Executor;
  using socket_type = basic_socket<Protocol, Executor>;

  explicit initiate_receive_descriptors(socket_type& socket) : socket_(&socket) {}
  const executor_type& get_executor() const noexcept { return socket_->get_executor(); }

  template <class Handler, class Sequence>
  void operator()(Handler&& handler, std::span<int> room, const Sequence& buffers) const {
    std::decay_t<Handler> own(std::forward<Handler>(handler));
    start_io<receive_descriptors_operation<Sequence>>(
        socket_access::handle(*socket_), own, get_executor(), buffers, room,
        mode_of_type(socket_access::protocol(*socket_).type()));
  }

 private:
  socket_type* socket_;
};

}  // namespace detail

/// Sends a message with open descriptors over a UNIX-domain socket (SCM_RIGHTS, unix(7)): the
/// receiver gets descriptors of its own to the same open files. At most 253; on a stream, at least
/// one byte goes with them (else invalid_argument). Returns the number of bytes sent; the
/// descriptors go with the first. Errors: as of send, and bad_descriptor for one that is not open.
///
///     send_descriptors(socket, std::array{file.native_handle()}, buffer("f", 1));
template <class Protocol, class Executor, detail::const_sequence ConstBufferSequence>
std::size_t send_descriptors(basic_socket<Protocol, Executor>& socket,
                             std::span<const int> descriptors, const ConstBufferSequence& buffers,
                             error_code& ec) {
  ec = detail::check_descriptors(detail::socket_access::protocol(socket).type(), descriptors,
                                 buffers);
  if (ec)
    return 0;
  detail::buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
  detail::descriptor_message message;
  detail::message_header header;
  header.vectors = adapter.vectors();
  header.count = adapter.count();
  message.put(header, descriptors);
  return detail::socket_access::handle(socket).send(header, 0, ec);
}
template <class Protocol, class Executor, detail::const_sequence ConstBufferSequence>
std::size_t send_descriptors(basic_socket<Protocol, Executor>& socket,
                             std::span<const int> descriptors, const ConstBufferSequence& buffers) {
  error_code ec;
  const std::size_t n = send_descriptors(socket, descriptors, buffers, ec);
  detail::throw_if(ec, "send_descriptors");
  return n;
}

/// The same, asynchronously. Completion: void(error_code, std::size_t bytes). The descriptors must
/// stay open until then; their numbers are copied.
template <class Protocol, class Executor, detail::const_sequence ConstBufferSequence,
          completion_token_for<void(error_code, std::size_t)> WriteToken =
              default_completion_token_t<Executor>>
auto async_send_descriptors(basic_socket<Protocol, Executor>& socket,
                            std::span<const int> descriptors, const ConstBufferSequence& buffers,
                            WriteToken&& token = default_completion_token_t<Executor>()) {
  return async_initiate<WriteToken, void(error_code, std::size_t)>(
      detail::initiate_send_descriptors<Protocol, Executor>(socket), token, descriptors, buffers);
}

/// Receives a message and the descriptors that came with it into `room`. They are close-on-exec and
/// the caller's to close; those for which there is no room are closed. Errors: as of receive.
template <class Protocol, class Executor, detail::mutable_sequence MutableBufferSequence>
received_descriptors receive_descriptors(basic_socket<Protocol, Executor>& socket,
                                         std::span<int> room, const MutableBufferSequence& buffers,
                                         error_code& ec) {
  detail::buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
  detail::descriptor_message message;
  detail::message_header header;
  header.vectors = adapter.vectors();
  header.count = adapter.count();
  message.make_room(header);
  received_descriptors result;
  result.bytes = detail::socket_access::handle(socket).receive(
      header, detail::close_received_on_exec,
      detail::mode_of_type(detail::socket_access::protocol(socket).type()), ec);
  result.count = message.take(header, room);
  return result;
}
template <class Protocol, class Executor, detail::mutable_sequence MutableBufferSequence>
received_descriptors receive_descriptors(basic_socket<Protocol, Executor>& socket,
                                         std::span<int> room,
                                         const MutableBufferSequence& buffers) {
  error_code ec;
  const received_descriptors result = receive_descriptors(socket, room, buffers, ec);
  detail::throw_if(ec, "receive_descriptors");
  return result;
}

/// The same, asynchronously. Completion: void(error_code, std::size_t bytes, std::size_t
/// descriptors). `room` is written when the handler is called. Cancelled, nothing is lost: a
/// message that was taken is reported with success.
template <class Protocol, class Executor, detail::mutable_sequence MutableBufferSequence,
          completion_token_for<void(error_code, std::size_t, std::size_t)> ReadToken =
              default_completion_token_t<Executor>>
auto async_receive_descriptors(basic_socket<Protocol, Executor>& socket, std::span<int> room,
                               const MutableBufferSequence& buffers,
                               ReadToken&& token = default_completion_token_t<Executor>()) {
  return async_initiate<ReadToken, void(error_code, std::size_t, std::size_t)>(
      detail::initiate_receive_descriptors<Protocol, Executor>(socket), token, room, buffers);
}

}  // namespace WEFT_NAMESPACE
