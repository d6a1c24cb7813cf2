// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/async/async_initiate.hpp>
#include <weft/async/default_completion_token.hpp>
#include <weft/base/error.hpp>
#include <weft/io/handle_object.hpp>
#include <weft/io/op/completed.hpp>

namespace WEFT_NAMESPACE::detail {

/// Starts an asynchronous read or write of a stream-like object. An empty one completes without
/// waiting for readiness, or for operations before it.
template <template <class> class Operation, class Buffer, class Handler, class Executor,
          class Sequence>
void start_stream_transfer(descriptor_handle& io, Handler&& handler, const Executor& executor,
                           const Sequence& buffers) {
  with_handler(std::forward<Handler>(handler), [&](auto& h) {
    const transfer_mode mode = io.mode();
    const bool reads = std::is_same_v<Buffer, mutable_buffer>;
    const error_code ec = io.make_asynchronous(reads ? io_queue::read : io_queue::write);
    if (ec || (mode == transfer_mode::ready &&
               buffer_sequence_adapter<Buffer, Sequence>::all_empty(buffers)))
      complete_now(io.owner(), h, executor, ec, std::size_t(0));
    else
      start_io<Operation<Sequence>>(io, h, executor, buffers, mode);
  });
}

/// The reading half of a stream object `Derived`, which is a handle_object<Executor>.
///
/// Asynchronous reads are performed in the order they were started. Complexity: one system call at
/// best, O(number of buffers); at most max_stream_vectors buffers are used at a time.
template <class Derived, class Executor>
class stream_reads {
 public:
  /// Reads at least one byte, and blocks until there is one (but with `non_blocking(true)`: fails
  /// with error::would_block). Returns the number of bytes read. Reading nothing (all buffers are
  /// empty) is success. Errors: error::eof at the end of the stream; error::bad_descriptor; those
  /// of read(2).
  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = read_some(buffers, ec);
    throw_if(ec, "read_some");
    return n;
  }
  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers, error_code& ec) {
    buffer_sequence_adapter<mutable_buffer, MutableBufferSequence> adapter(buffers);
    return handle_access::get(self()).read(adapter.vectors(), adapter.count(), ec);
  }

  /// Starts to read at least one byte. The memory stays the caller's, and valid until completion.
  /// Completion: void(error_code, std::size_t bytes_read). Errors: as read_some, never would_block;
  /// error::operation_aborted.
  /// Cancellation: terminal, partial and total. What was read is reported, never lost.
  template <class MutableBufferSequence, completion_token_for<void(error_code, std::size_t)>
                                             ReadToken = default_completion_token_t<Executor>>
  auto async_read_some(const MutableBufferSequence& buffers,
                       ReadToken&& token = default_completion_token_t<Executor>()) {
    return async_initiate<ReadToken, void(error_code, std::size_t)>(
        initiate_async_read_some(self()), token, buffers);
  }

 protected:
  ~stream_reads() = default;

 private:
  class initiate_async_read_some {
   public:
    using executor_type = Executor;
    explicit initiate_async_read_some(Derived& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->get_executor(); }

    template <class Handler, class MutableBufferSequence>
    void operator()(Handler&& handler, const MutableBufferSequence& buffers) const {
      start_stream_transfer<read_buffers_operation, mutable_buffer>(
          handle_access::get(*self_), std::forward<Handler>(handler), get_executor(), buffers);
    }

   private:
    Derived* self_;
  };

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

/// The writing half of a stream object `Derived`, which is a handle_object<Executor>.
///
/// Asynchronous writes are performed in the order they were started. No write raises SIGPIPE, and
/// the process's disposition of that signal is left alone. Complexity: one system call at best
/// (before Linux 6.18 five, to keep the signal away), O(number of buffers); at most
/// max_stream_vectors buffers are used at a time.
template <class Derived, class Executor>
class stream_writes {
 public:
  /// Writes at least one byte, and blocks until it can (but with `non_blocking(true)`: fails with
  /// error::would_block). Returns the number of bytes written. Writing nothing is success. Errors:
  /// error::broken_pipe if nobody reads any more; error::bad_descriptor; those of write(2).
  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = write_some(buffers, ec);
    throw_if(ec, "write_some");
    return n;
  }
  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers, error_code& ec) {
    buffer_sequence_adapter<const_buffer, ConstBufferSequence> adapter(buffers);
    return handle_access::get(self()).write(adapter.vectors(), adapter.count(), ec);
  }

  /// Starts to write at least one byte. The memory stays the caller's, and valid until completion.
  /// Completion: void(error_code, std::size_t bytes_written). Errors: as write_some, never
  /// would_block; error::operation_aborted.
  /// Cancellation: terminal, partial and total. What was written is reported.
  template <class ConstBufferSequence, completion_token_for<void(error_code, std::size_t)>
                                           WriteToken = default_completion_token_t<Executor>>
  auto async_write_some(const ConstBufferSequence& buffers,
                        WriteToken&& token = default_completion_token_t<Executor>()) {
    return async_initiate<WriteToken, void(error_code, std::size_t)>(
        initiate_async_write_some(self()), token, buffers);
  }

 protected:
  ~stream_writes() = default;

 private:
  class initiate_async_write_some {
   public:
    using executor_type = Executor;
    explicit initiate_async_write_some(Derived& self) noexcept : self_(&self) {}
    const executor_type& get_executor() const noexcept { return self_->get_executor(); }

    template <class Handler, class ConstBufferSequence>
    void operator()(Handler&& handler, const ConstBufferSequence& buffers) const {
      start_stream_transfer<write_buffers_operation, const_buffer>(
          handle_access::get(*self_), std::forward<Handler>(handler), get_executor(), buffers);
    }

   private:
    Derived* self_;
  };

  Derived& self() noexcept { return static_cast<Derived&>(*this); }
};

}  // namespace WEFT_NAMESPACE::detail
