// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <type_traits>

#include <weft/io/buffer_copy.hpp>
#include <weft/io/buffered_stream_storage.hpp>
#include <weft/io/is_buffered.hpp>
#include <weft/io/write.hpp>

namespace WEFT_NAMESPACE {

/// Buffers the writes of a stream: what is written stays in memory until the buffer is full, or is
/// flushed. The destructor does not flush. Reads pass straight through; so do their members, which
/// the next layer need have only if they are used.
///
/// `Stream` is the next layer's type, or a reference to it. Operations complete as the next layer's
/// do; one that memory can take never completes inside its initiating function, unless by an
/// associated immediate executor. Cancelling a flush leaves in the buffer what has not been
/// written. Thread safety: distinct objects only; no other write while one is under way.
///
///     buffered_write_stream<tcp::socket&> stream(socket);
///     for (const std::string& line : lines)
///       write(stream, buffer(line));
///     stream.flush();
template <class Stream>
class buffered_write_stream {
 public:
  using next_layer_type = std::remove_reference_t<Stream>;
  using lowest_layer_type = typename next_layer_type::lowest_layer_type;
  using executor_type = typename lowest_layer_type::executor_type;

  /// In bytes.
  static constexpr std::size_t default_buffer_size = 1024;

  /// Makes the next layer from `arg`, and a buffer of `buffer_size` bytes, at least 1.
  template <class Arg>
    requires std::is_constructible_v<Stream, Arg>
  explicit buffered_write_stream(Arg&& arg, std::size_t buffer_size = default_buffer_size)
      : next_layer_(std::forward<Arg>(arg)), storage_(buffer_size == 0 ? 1 : buffer_size) {}

  buffered_write_stream(const buffered_write_stream&) = delete;
  buffered_write_stream& operator=(const buffered_write_stream&) = delete;

  next_layer_type& next_layer() { return next_layer_; }
  lowest_layer_type& lowest_layer() { return next_layer_.lowest_layer(); }
  const lowest_layer_type& lowest_layer() const { return next_layer_.lowest_layer(); }
  executor_type get_executor() noexcept { return next_layer_.lowest_layer().get_executor(); }

  /// Closes the next layer. What is in the buffer is not written.
  void close() { next_layer_.close(); }
  void close(error_code& ec) { next_layer_.close(ec); }

  /// Writes all of the buffer to the next layer. Returns the number of bytes written, also where an
  /// error ended it early; what was not written stays in the buffer.
  std::size_t flush(error_code& ec) {
    const std::size_t n = WEFT_NAMESPACE::write(next_layer_, storage_.data(), ec);
    storage_.consume(n);
    return n;
  }
  std::size_t flush() {
    error_code ec;
    const std::size_t n = flush(ec);
    detail::throw_if(ec, "flush");
    return n;
  }

  /// The asynchronous form of `flush`. Completion signature: `void(error_code, std::size_t)`.
  template <class WriteToken = default_completion_token_t<executor_type>>
  auto async_flush(WriteToken&& token = WriteToken()) {
    return detail::initiate_layered_operation<WriteToken>(*this, token, start_flush{this},
                                                          finish_flush{this});
  }

  /// Puts as many bytes into the buffer as it has room for, after flushing it if it is full.
  /// Returns their number, at least 1 unless `buffers` is empty; 0 after an error.
  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers, error_code& ec) {
    ec = error_code();
    if (buffer_size(buffers) == 0)
      return 0;
    if (storage_.full())
      flush(ec);
    return ec ? 0 : append(buffers);
  }
  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers) {
    error_code ec;
    const std::size_t n = write_some(buffers, ec);
    detail::throw_if(ec, "write_some");
    return n;
  }

  /// The asynchronous form of `write_some`. Completion signature: `void(error_code, std::size_t)`.
  /// The bytes of `buffers` are copied no earlier than the buffer has room.
  template <class ConstBufferSequence, class WriteToken = default_completion_token_t<executor_type>>
  auto async_write_some(const ConstBufferSequence& buffers, WriteToken&& token = WriteToken()) {
    return detail::initiate_layered_operation<WriteToken>(
        *this, token, start_flush{this}, finish_write<ConstBufferSequence>{this, buffers});
  }

  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers) {
    return next_layer_.read_some(buffers);
  }
  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers, error_code& ec) {
    return next_layer_.read_some(buffers, ec);
  }
  template <class MutableBufferSequence,
            class ReadToken = default_completion_token_t<executor_type>>
  auto async_read_some(const MutableBufferSequence& buffers, ReadToken&& token = ReadToken()) {
    return next_layer_.async_read_some(buffers, std::forward<ReadToken>(token));
  }
  template <class MutableBufferSequence>
  std::size_t peek(const MutableBufferSequence& buffers) {
    return next_layer_.peek(buffers);
  }
  template <class MutableBufferSequence>
  std::size_t peek(const MutableBufferSequence& buffers, error_code& ec) {
    return next_layer_.peek(buffers, ec);
  }
  std::size_t in_avail() { return next_layer_.in_avail(); }
  std::size_t in_avail(error_code& ec) { return next_layer_.in_avail(ec); }

 private:
  template <class Buffers>
  std::size_t append(const Buffers& buffers) {
    const std::size_t n = buffer_copy(storage_.space(), buffers);
    storage_.commit(n);
    return n;
  }

  struct start_flush {
    buffered_write_stream* self;
    template <class Handler>
    void operator()(Handler&& handler) const {
      WEFT_NAMESPACE::async_write(self->next_layer_, self->storage_.data(),
                                  std::forward<Handler>(handler));
    }
  };

  struct finish_flush {
    buffered_write_stream* self;
    bool ready() const { return self->storage_.empty(); }
    std::size_t operator()(const error_code&, std::size_t n) const {
      self->storage_.consume(n);
      return n;
    }
  };

  template <class Buffers>
  struct finish_write {
    buffered_write_stream* self;
    Buffers buffers;
    bool ready() const { return !self->storage_.full() || buffer_size(buffers) == 0; }
    std::size_t operator()(const error_code& ec, std::size_t n) const {
      self->storage_.consume(n);
      return ec ? 0 : self->append(buffers);
    }
  };

  Stream next_layer_;
  detail::stream_storage storage_;
};

template <class Stream>
struct is_write_buffered<buffered_write_stream<Stream>> : std::true_type {};
template <class Stream>
struct is_read_buffered<buffered_write_stream<Stream>>
    : is_read_buffered<std::remove_reference_t<Stream>> {};

}  // namespace WEFT_NAMESPACE
