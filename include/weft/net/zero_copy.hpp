// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/op/zero_copy.hpp>
#include <weft/net/basic_stream_socket.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Protocol, class Executor>
class initiate_send_zero_copy {
 public:
  using executor_type = Executor;
  using socket_type = basic_stream_socket<Protocol, Executor>;

  explicit initiate_send_zero_copy(socket_type& socket) : socket_(&socket) {}
  const executor_type& get_executor() const noexcept { return socket_->get_executor(); }

  template <class Handler, class Sequence>
  void operator()(Handler&& handler, const Sequence& buffers, int flags) const {
    std::decay_t<Handler> own(std::forward<Handler>(handler));
    socket_handle& handle = socket_access::handle(*socket_);
    if (buffer_sequence_adapter<const_buffer, Sequence>::all_empty(buffers))
      complete_now(handle.owner(), own, get_executor(),
                   handle.is_open() ? error_code() : error_code(error::bad_descriptor),
                   std::size_t(0), false);
    else
      start_io<zero_copy_send_operation<Sequence>>(handle, own, get_executor(), buffers, flags,
                                                   handle.enable_zero_copy());
  }

 private:
  socket_type* socket_;
};

}  // namespace detail

/// Sends from the caller's memory without copying it into the kernel: MSG_ZEROCOPY, Linux 4.14
/// (msg_zerocopy in the kernel's documentation). It pays from some 10 KB on, towards other hosts.
///
/// Completion: void(error_code, std::size_t bytes, bool copied), when the kernel has let go of the
/// buffers: on TCP, when the peer has acknowledged the bytes. Writes that are started meanwhile
/// wait. `copied` tells that the bytes were copied after all: on the way to this host, on a socket
/// that knows no other way (UNIX-domain), or for lack of kernel memory. Up to 16 buffers that are
/// not empty are sent, in part perhaps. Errors: as of send.
///
/// Cancellation: all types. After operation_aborted `bytes` tells what was sent all the same, from
/// memory that the kernel may go on reading until it is acknowledged; so does closing the socket.
/// Notifications use the socket's error queue, which nobody else may read.
///
///     async_send_zero_copy(socket, buffer(page), [](error_code ec, std::size_t n, bool) { ... });
template <class Protocol, class Executor, detail::const_sequence ConstBufferSequence,
          completion_token_for<void(error_code, std::size_t, bool)> WriteToken =
              default_completion_token_t<Executor>>
auto async_send_zero_copy(basic_stream_socket<Protocol, Executor>& socket,
                          const ConstBufferSequence& buffers, socket_base::message_flags flags,
                          WriteToken&& token = default_completion_token_t<Executor>()) {
  return async_initiate<WriteToken, void(error_code, std::size_t, bool)>(
      detail::initiate_send_zero_copy<Protocol, Executor>(socket), token, buffers, flags);
}
template <class Protocol, class Executor, detail::const_sequence ConstBufferSequence,
          completion_token_for<void(error_code, std::size_t, bool)> WriteToken =
              default_completion_token_t<Executor>>
auto async_send_zero_copy(basic_stream_socket<Protocol, Executor>& socket,
                          const ConstBufferSequence& buffers,
                          WriteToken&& token = default_completion_token_t<Executor>()) {
  return async_send_zero_copy(socket, buffers, socket_base::message_flags(0),
                              std::forward<WriteToken>(token));
}

}  // namespace WEFT_NAMESPACE
