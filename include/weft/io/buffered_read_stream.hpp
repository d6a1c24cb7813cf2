// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/buffered_stream_storage.hpp>
#include <weft/io/is_buffered.hpp>

namespace WEFT_NAMESPACE {

/// Buffers the reads of a stream: reads of few bytes are served from memory, and the next layer is
/// asked for as much as the buffer holds. Writes pass straight through.
///
/// `Stream` is the next layer's type, or a reference to it. Operations complete as the next layer's
/// do; one that memory can serve never completes inside its initiating function, unless by an
/// associated immediate executor. Cancellation is the next layer's: bytes that arrived meanwhile
/// stay in the buffer. Thread safety: distinct objects only.
///
///     buffered_read_stream<tcp::socket&> stream(socket);
///     read_until(stream, dynamic_buffer(line), '\n');
template <class Stream>
class buffered_read_stream {
 public:
  using next_layer_type = std::remove_reference_t<Stream>;
  using lowest_layer_type = typename next_layer_type::lowest_layer_type;
  using executor_type = typename lowest_layer_type::executor_type;

  /// In bytes.
  static constexpr std::size_t default_buffer_size = 1024;

  /// Makes the next layer from `arg`, and a buffer of `buffer_size` bytes, at least 1.
  template <class Arg>
    requires std::is_constructible_v<Stream, Arg>
  explicit buffered_read_stream(Arg&& arg, std::size_t buffer_size = default_buffer_size)
      : next_layer_(std::forward<Arg>(arg)), storage_(buffer_size == 0 ? 1 : buffer_size) {}

  buffered_read_stream(const buffered_read_stream&) = delete;
  buffered_read_stream& operator=(const buffered_read_stream&) = delete;

  next_layer_type& next_layer() { return next_layer_; }
  lowest_layer_type& lowest_layer() { return next_layer_.lowest_layer(); }
  const lowest_layer_type& lowest_layer() const { return next_layer_.lowest_layer(); }
  executor_type get_executor() noexcept { return next_layer_.lowest_layer().get_executor(); }

  /// Closes the next layer. What is in the buffer can still be read.
  void close() { next_layer_.close(); }
  void close(error_code& ec) { next_layer_.close(ec); }

  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers) {
    return next_layer_.write_some(buffers);
  }
  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers, error_code& ec) {
    return next_layer_.write_some(buffers, ec);
  }
  template <class ConstBufferSequence, class WriteToken = default_completion_token_t<executor_type>>
  auto async_write_some(const ConstBufferSequence& buffers, WriteToken&& token = WriteToken()) {
    return next_layer_.async_write_some(buffers, std::forward<WriteToken>(token));
  }

  /// Reads once from the next layer into the free part of the buffer. Returns the number of bytes
  /// read, 0 after an error or if the buffer is full.
  std::size_t fill(error_code& ec) {
    ec = error_code();
    if (storage_.full())
      return 0;
    const std::size_t n = next_layer_.read_some(storage_.space(), ec);
    storage_.commit(n);
    return n;
  }
  std::size_t fill() {
    error_code ec;
    const std::size_t n = fill(ec);
    detail::throw_if(ec, "fill");
    return n;
  }

  /// The asynchronous form of `fill`. Completion signature: `void(error_code, std::size_t)`.
  template <class ReadToken = default_completion_token_t<executor_type>>
  auto async_fill(ReadToken&& token = ReadToken()) {
    return detail::initiate_layered_operation<ReadToken>(*this, token, start_read{this},
                                                         finish_fill{this});
  }

  /// Reads what the buffer holds, or fills it first if it holds nothing. Returns the number of
  /// bytes read, at least 1 unless `buffers` is empty; 0 after an error.
  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers, error_code& ec) {
    const std::size_t n = peek(buffers, ec);
    storage_.consume(n);
    return n;
  }
  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = read_some(buffers, ec);
    detail::throw_if(ec, "read_some");
    return n;
  }

  /// The asynchronous form of `read_some`. Completion signature: `void(error_code, std::size_t)`.
  template <class MutableBufferSequence,
            class ReadToken = default_completion_token_t<executor_type>>
  auto async_read_some(const MutableBufferSequence& buffers, ReadToken&& token = ReadToken()) {
    return detail::initiate_layered_operation<ReadToken>(
        *this, token, start_read{this}, finish_read<MutableBufferSequence>{this, buffers});
  }

  /// As `read_some`, but leaves the bytes in the buffer.
  template <class MutableBufferSequence>
  std::size_t peek(const MutableBufferSequence& buffers, error_code& ec) {
    ec = error_code();
    if (buffer_size(buffers) == 0)
      return 0;
    if (storage_.empty())
      fill(ec);
    return buffer_copy(buffers, storage_.data());
  }
  template <class MutableBufferSequence>
  std::size_t peek(const MutableBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = peek(buffers, ec);
    detail::throw_if(ec, "peek");
    return n;
  }

  /// How many bytes can be read from memory.
  std::size_t in_avail(error_code& ec) {
    ec = error_code();
    return storage_.size();
  }
  std::size_t in_avail() { return storage_.size(); }

 private:
  struct start_read {
    buffered_read_stream* self;
    template <class Handler>
    void operator()(Handler&& handler) const {
      self->next_layer_.async_read_some(self->storage_.space(), std::forward<Handler>(handler));
    }
  };

  struct finish_fill {
    buffered_read_stream* self;
    bool ready() const { return self->storage_.full(); }
    std::size_t operator()(const error_code&, std::size_t n) const {
      self->storage_.commit(n);
      return n;
    }
  };

  template <class Buffers>
  struct finish_read {
    buffered_read_stream* self;
    Buffers buffers;
    bool ready() const { return !self->storage_.empty() || buffer_size(buffers) == 0; }
    std::size_t operator()(const error_code& ec, std::size_t n) const {
      self->storage_.commit(n);
      if (ec)
        return 0;
      const std::size_t copied = buffer_copy(buffers, self->storage_.data());
      self->storage_.consume(copied);
      return copied;
    }
  };

  Stream next_layer_;
  detail::stream_storage storage_;
};

template <class Stream>
struct is_read_buffered<buffered_read_stream<Stream>> : std::true_type {};
template <class Stream>
struct is_write_buffered<buffered_read_stream<Stream>>
    : is_write_buffered<std::remove_reference_t<Stream>> {};

}  // namespace WEFT_NAMESPACE
