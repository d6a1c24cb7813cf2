// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>

#include <weft/async/compose.hpp>
#include <weft/io/op/sendfile.hpp>
#include <weft/net/basic_stream_socket.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// A native descriptor, or an object that has one: a file.
template <class T>
concept descriptor_source = std::convertible_to<T&, int> || requires(T& object) {
  { object.native_handle() } -> std::convertible_to<int>;
};

template <descriptor_source T>
int descriptor_of(T& source) {
  if constexpr (std::convertible_to<T&, int>)
    return source;
  else
    return source.native_handle();
}

template <class Executor>
class initiate_sendfile_some {
 public:
  using executor_type = Executor;

  initiate_sendfile_some(socket_handle& handle, const Executor& executor)
      : handle_(&handle), executor_(executor) {}
  const executor_type& get_executor() const noexcept { return executor_; }

  template <class Handler>
  void operator()(Handler&& handler, int file, std::uint64_t offset, std::size_t size) const {
    std::decay_t<Handler> own(std::forward<Handler>(handler));
    const error_code ec = handle_->is_open() ? handle_->make_asynchronous() : error_code();
    if (ec)
      complete_now(handle_->owner(), own, executor_, ec, std::size_t(0));
    else
      start_io<sendfile_operation>(*handle_, own, executor_, file, offset, size);
  }

 private:
  socket_handle* handle_;
  Executor executor_;
};

/// The implementation of async_sendfile: step by step, until all is sent or the file ends.
template <class Socket>
class file_sender {
 public:
  file_sender(Socket& socket, int file, std::uint64_t offset, std::size_t count)
      : socket_(&socket), file_(file), offset_(offset), left_(count) {}

  template <class Self>
  void operator()(Self& self) {
    self.reset_cancellation_state(enable_partial_cancellation());
    if (left_ == 0)
      self.complete(error_code(), 0);
    else
      step(self);
  }

  template <class Self>
  void operator()(Self& self, error_code ec, std::size_t n) {
    sent_ += n;
    left_ -= n;
    if (ec || n == 0 || left_ == 0)
      self.complete(ec, sent_);
    else if (self.cancelled() != cancellation_type::none)
      self.complete(error::operation_aborted, sent_);
    else
      step(self);
  }

 private:
  template <class Self>
  void step(Self& self) {
    const std::uint64_t from = offset_ + sent_;
    const std::size_t size = left_;
    const int file = file_;
    Socket& socket = *socket_;
    initiate_sendfile_some initiation(socket_access::handle(socket), socket.get_executor());
    initiation(std::move(self), file, from, size);
  }

  Socket* socket_;
  int file_;
  std::uint64_t offset_;
  std::size_t left_;
  std::size_t sent_ = 0;
};

}  // namespace detail

/// Sends up to `count` bytes of a file, from `offset` on (in bytes), without copying them through
/// the program: sendfile(2). `file` is a descriptor, or an object with a `native_handle()`, that
/// can be mapped (not a pipe or a socket); its own position does not change. Returns the number of
/// bytes sent: fewer than `count` with success if the file ends before. Errors: as of send, and of
/// reading the file.
///
///     sendfile(socket, file, 0, file.size());
template <class Protocol, class Executor, detail::descriptor_source File>
std::size_t sendfile(basic_stream_socket<Protocol, Executor>& socket, File&& file,
                     std::uint64_t offset, std::size_t count, error_code& ec) {
  detail::socket_handle& handle = detail::socket_access::handle(socket);
  const int from = detail::descriptor_of(file);
  std::size_t sent = 0;
  ec = error_code();
  while (sent != count) {
    const std::size_t n =
        detail::sendfile_now(handle.native_handle(), from, offset + sent, count - sent, ec);
    sent += n;
    if (ec == error::would_block && !socket.non_blocking())
      ec = handle.wait(detail::io_queue::write);
    else if (n == 0)
      break;
    if (ec)
      break;
  }
  return sent;
}
template <class Protocol, class Executor, detail::descriptor_source File>
std::size_t sendfile(basic_stream_socket<Protocol, Executor>& socket, File&& file,
                     std::uint64_t offset, std::size_t count) {
  error_code ec;
  const std::size_t n = sendfile(socket, file, offset, count, ec);
  detail::throw_if(ec, "sendfile");
  return n;
}

/// The same, asynchronously. Completion: void(error_code, std::size_t bytes). The socket and the
/// file must stay open until then, and no other write may be started meanwhile: the transfer
/// consists of steps. Cancellation: terminal and partial; the bytes sent so far are reported.
/// Reading from a slow disk blocks the thread that performs a step, of at most 256 KiB.
template <class Protocol, class Executor, detail::descriptor_source File,
          completion_token_for<void(error_code, std::size_t)> WriteToken =
              default_completion_token_t<Executor>>
auto async_sendfile(basic_stream_socket<Protocol, Executor>& socket, File&& file,
                    std::uint64_t offset, std::size_t count,
                    WriteToken&& token = default_completion_token_t<Executor>()) {
  using sender = detail::file_sender<basic_stream_socket<Protocol, Executor>>;
  return async_compose<WriteToken, void(error_code, std::size_t)>(
      sender(socket, detail::descriptor_of(file), offset, count), token, socket);
}

}  // namespace WEFT_NAMESPACE
