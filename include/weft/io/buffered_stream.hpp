// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/buffered_read_stream.hpp>
#include <weft/io/buffered_write_stream.hpp>

namespace WEFT_NAMESPACE {

/// Buffers the reads and the writes of a stream: a buffered_read_stream over a
/// buffered_write_stream. Each member does what that one's member of its name does.
///
///     buffered_stream<tcp::socket&> stream(socket);
///     write(stream, buffer(request));
///     stream.flush();
///     read_until(stream, dynamic_buffer(reply), '\n');
template <class Stream>
class buffered_stream {
 public:
  using next_layer_type = std::remove_reference_t<Stream>;
  using lowest_layer_type = typename next_layer_type::lowest_layer_type;
  using executor_type = typename lowest_layer_type::executor_type;

  template <class Arg>
    requires std::is_constructible_v<Stream, Arg>
  explicit buffered_stream(Arg&& arg) : writer_(std::forward<Arg>(arg)), reader_(writer_) {}

  /// The sizes of the buffers are in bytes, at least 1.
  template <class Arg>
    requires std::is_constructible_v<Stream, Arg>
  buffered_stream(Arg&& arg, std::size_t read_buffer_size, std::size_t write_buffer_size)
      : writer_(std::forward<Arg>(arg), write_buffer_size), reader_(writer_, read_buffer_size) {}

  buffered_stream(const buffered_stream&) = delete;
  buffered_stream& operator=(const buffered_stream&) = delete;

  next_layer_type& next_layer() { return writer_.next_layer(); }
  lowest_layer_type& lowest_layer() { return writer_.lowest_layer(); }
  const lowest_layer_type& lowest_layer() const { return writer_.lowest_layer(); }
  executor_type get_executor() noexcept { return writer_.get_executor(); }

  void close() { writer_.close(); }
  void close(error_code& ec) { writer_.close(ec); }

  std::size_t flush() { return writer_.flush(); }
  std::size_t flush(error_code& ec) { return writer_.flush(ec); }
  template <class WriteToken = default_completion_token_t<executor_type>>
  auto async_flush(WriteToken&& token = WriteToken()) {
    return writer_.async_flush(std::forward<WriteToken>(token));
  }

  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers) {
    return writer_.write_some(buffers);
  }
  template <class ConstBufferSequence>
  std::size_t write_some(const ConstBufferSequence& buffers, error_code& ec) {
    return writer_.write_some(buffers, ec);
  }
  template <class ConstBufferSequence, class WriteToken = default_completion_token_t<executor_type>>
  auto async_write_some(const ConstBufferSequence& buffers, WriteToken&& token = WriteToken()) {
    return writer_.async_write_some(buffers, std::forward<WriteToken>(token));
  }

  std::size_t fill() { return reader_.fill(); }
  std::size_t fill(error_code& ec) { return reader_.fill(ec); }
  template <class ReadToken = default_completion_token_t<executor_type>>
  auto async_fill(ReadToken&& token = ReadToken()) {
    return reader_.async_fill(std::forward<ReadToken>(token));
  }

  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers) {
    return reader_.read_some(buffers);
  }
  template <class MutableBufferSequence>
  std::size_t read_some(const MutableBufferSequence& buffers, error_code& ec) {
    return reader_.read_some(buffers, ec);
  }
  template <class MutableBufferSequence,
            class ReadToken = default_completion_token_t<executor_type>>
  auto async_read_some(const MutableBufferSequence& buffers, ReadToken&& token = ReadToken()) {
    return reader_.async_read_some(buffers, std::forward<ReadToken>(token));
  }

  template <class MutableBufferSequence>
  std::size_t peek(const MutableBufferSequence& buffers) {
    return reader_.peek(buffers);
  }
  template <class MutableBufferSequence>
  std::size_t peek(const MutableBufferSequence& buffers, error_code& ec) {
    return reader_.peek(buffers, ec);
  }

  std::size_t in_avail() { return reader_.in_avail(); }
  std::size_t in_avail(error_code& ec) { return reader_.in_avail(ec); }

 private:
  buffered_write_stream<Stream> writer_;
  buffered_read_stream<buffered_write_stream<Stream>&> reader_;
};

template <class Stream>
struct is_read_buffered<buffered_stream<Stream>> : std::true_type {};
template <class Stream>
struct is_write_buffered<buffered_stream<Stream>> : std::true_type {};

}  // namespace WEFT_NAMESPACE
