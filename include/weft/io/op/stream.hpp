// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <utility>

#include <weft/io/io_handle.hpp>
#include <weft/io/op/accept.hpp>
#include <weft/io/op/receive.hpp>
#include <weft/io/received_buffer.hpp>

namespace WEFT_NAMESPACE::detail {

/// What takes bytes or connections for a stream, before they are asked for where io_uring does it.
class stream_source;

WEFT_API void retain(stream_source& source) noexcept;
WEFT_API void release(stream_source& source) noexcept;

/// A counted reference to a source.
class stream_reference {
 public:
  /// Shares the source.
  explicit stream_reference(stream_source& source) noexcept : source_(&source) { retain(source); }
  /// Takes over a reference that was counted.
  struct adopt {};
  stream_reference(stream_source* source, adopt) noexcept : source_(source) {}
  stream_reference(stream_reference&& other) noexcept
      : source_(std::exchange(other.source_, nullptr)) {}
  stream_reference& operator=(stream_reference&&) = delete;
  ~stream_reference() {
    if (source_)
      release(*source_);
  }

  stream_source* get() const noexcept { return source_; }

 private:
  stream_source* source_;
};

/// What the operations have in common that wait for the next item of a source.
struct stream_consumer {
  explicit stream_consumer(stream_source& from) noexcept : source(from) {}

  stream_reference source;
  bool direct = false;  // the source rests: the operation makes the system call itself
};

/// The source of one stream, and the calls on it: the part of both streams that is no template.
class WEFT_API stream_handle {
 public:
  /// Takes bytes from a socket, at most `limit` buffers ahead. Throws std::bad_alloc.
  stream_handle(io_handle& socket, std::size_t limit, receive_mode mode);
  /// Takes connections from an acceptor, at most `limit` ahead. Throws std::bad_alloc.
  stream_handle(io_handle& acceptor, std::size_t limit, bool report_aborted);
  stream_handle(stream_handle&&) noexcept = default;
  stream_handle& operator=(stream_handle&&) = delete;
  /// Stops.
  ~stream_handle();

  stream_source& source() const noexcept { return *source_.get(); }
  scheduler& owner() const noexcept;

  /// As those of io_handle. A descriptor closed or opened anew since the stream was made counts as
  /// closed.
  void attach(io_operation* op) noexcept;
  void start(io_operation* op) noexcept;
  bool start_or_finish(io_operation* op) noexcept;

  /// Cancels the operations that wait for an item.
  void cancel() noexcept;

  /// Returns when nothing is taken any more; operations that wait for more than there is end with
  /// operation_aborted.
  void stop() noexcept;

 private:
  stream_reference source_;
};

/// As start_io, on a stream.
template <class Base, class Handler, class IoExecutor, class... Args>
void start_stream_io(stream_handle& stream, Handler& handler, const IoExecutor& executor,
                     Args&&... args) {
  using op_type = handler_operation<Base, Handler, IoExecutor>;
  auto op = op_type::create(handler, executor, stream.owner(), stream.source(),
                            std::forward<Args>(args)...);
  stream.attach(op.get());
  op->template connect<io_canceller>(op.get());
  if constexpr (has_immediate_executor<Handler, IoExecutor>) {
    op_type* raw = op.release();
    if (stream.start_or_finish(raw))
      op_type::complete_immediately(raw, executor);
  } else {
    stream.start(op.release());
  }
}

/// Waits for the next bytes of a source. Results: (error_code, received_buffer).
class WEFT_API receive_next_operation : public io_operation {
 public:
  receive_next_operation(function f, scheduler& owner, stream_source& from) noexcept
      : io_operation(f, owner, next_kind, io_queue::read), consumer(from) {}
  ~receive_next_operation() = default;

  operation_results<error_code, received_buffer> take_results() noexcept {
    return {ec, std::move(received)};
  }

  stream_consumer consumer;
  received_buffer received;

 private:
  static const io_kind next_kind;
};

/// Waits for the next connection of a source.
class WEFT_API accept_next_operation : public accept_operation {
 public:
  stream_consumer consumer;

 protected:
  accept_next_operation(function f, scheduler& owner, stream_source& from) noexcept;
  ~accept_next_operation() = default;

 private:
  static io_status perform(io_operation& base) noexcept;

  static const io_kind next_kind;
};

/// The same; makes a socket of it, for which it has the memory before there is a connection.
/// Results: (error_code, Socket).
template <class Socket>
class accept_next_socket_operation : public accept_next_operation {
 public:
  accept_next_socket_operation(operation::function f, scheduler& owner, stream_source& from,
                               const typename Socket::executor_type& executor,
                               const typename Socket::protocol_type& protocol)
      : accept_next_operation(f, owner, from), socket_(executor), protocol_(protocol) {
    socket_access::handle(socket_).reserve();
  }

  operation_results<error_code, Socket> take_results() {
    if (!ec)
      ec = socket_access::adopt(socket_, protocol_, accepted);
    if (!ec)
      take_descriptor();
    return {ec, std::move(socket_)};
  }

 private:
  Socket socket_;
  typename Socket::protocol_type protocol_;
};

}  // namespace WEFT_NAMESPACE::detail
