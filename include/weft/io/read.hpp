// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/composed_transfer.hpp>

namespace WEFT_NAMESPACE {

/// Reads until the buffers are full, the condition says so, or an error occurs: as many calls of
/// `stream.read_some` as that takes (none if there is nothing to read).
///
/// `buffers` is a mutable buffer sequence, whose memory the caller keeps; or a dynamic buffer or a
/// basic_streambuf, to which the bytes are appended until its maximum size is reached. The
/// condition (see is_completion_condition) is transfer_all() by default.
///
/// Returns the number of bytes read, also where an error ended it early. Errors: those of the
/// stream; `error::eof` where the stream ended before the condition was met. The forms without `ec`
/// throw system_error. Growing a dynamic buffer may throw too.
///
///     std::array<char, 16> header;
///     read(socket, buffer(header));
///     std::string rest;
///     read(socket, dynamic_buffer(rest, 1 << 20), transfer_at_least(1));
template <class SyncReadStream, detail::read_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t read(SyncReadStream& stream, Buffers&& buffers, CompletionCondition condition,
                 error_code& ec) {
  return detail::transfer(detail::read_channel<SyncReadStream>{stream},
                          std::forward<Buffers>(buffers), std::move(condition), ec);
}
template <class SyncReadStream, detail::read_buffers Buffers>
std::size_t read(SyncReadStream& stream, Buffers&& buffers, error_code& ec) {
  return read(stream, std::forward<Buffers>(buffers), transfer_all(), ec);
}
template <class SyncReadStream, detail::read_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t read(SyncReadStream& stream, Buffers&& buffers, CompletionCondition condition) {
  error_code ec;
  const std::size_t n = read(stream, std::forward<Buffers>(buffers), std::move(condition), ec);
  detail::throw_if(ec, "read");
  return n;
}
template <class SyncReadStream, detail::read_buffers Buffers>
std::size_t read(SyncReadStream& stream, Buffers&& buffers) {
  return read(stream, std::forward<Buffers>(buffers), transfer_all());
}

/// The asynchronous form of `read`: as many calls of `stream.async_read_some` as that takes; of one
/// buffer and a socket, one operation. The program starts no other read on the stream until it has
/// completed. The handler is not called inside this call, unless by an associated immediate
/// executor: where there is nothing to read, or where all of it can be read at once.
///
/// Completion signature: `void(error_code, std::size_t)`: the bytes read, also where an error or a
/// cancellation ended it early. The memory of a buffer sequence must stay valid until the handler
/// is called; so must what a dynamic buffer refers to, which the program leaves alone meanwhile.
///
/// Errors: those of the stream, `error::eof` where it ended first; `operation_aborted` when
/// cancelled; `no_memory` where a step after the first could not be allocated. Throws what the
/// first step throws.
///
/// Cancellation: terminal and partial; total as long as nothing has been transferred. The bytes
/// reported are all that were transferred: none is lost.
/// Thread safety: as the stream; a request for cancellation may come from any thread.
///
///     async_read(socket, buffer(header), [this](error_code ec, std::size_t) {
///       if (!ec) read_body();
///     });
template <class AsyncReadStream, detail::read_buffers Buffers,
          detail::completion_condition CompletionCondition,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncReadStream::executor_type>>
auto async_read(AsyncReadStream& stream, Buffers&& buffers, CompletionCondition condition,
                ReadToken&& token = ReadToken()) {
  return detail::async_transfer(detail::read_channel<AsyncReadStream>{stream},
                                std::forward<Buffers>(buffers), std::move(condition),
                                std::forward<ReadToken>(token));
}
template <class AsyncReadStream, detail::read_buffers Buffers,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncReadStream::executor_type>>
auto async_read(AsyncReadStream& stream, Buffers&& buffers, ReadToken&& token = ReadToken()) {
  return detail::async_transfer(detail::read_channel<AsyncReadStream>{stream},
                                std::forward<Buffers>(buffers), transfer_all(),
                                std::forward<ReadToken>(token));
}

}  // namespace WEFT_NAMESPACE
