// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/composed_transfer.hpp>

namespace WEFT_NAMESPACE {

/// Writes until all of the buffers is written, the condition says so, or an error occurs: as many
/// calls of `stream.write_some` as that takes (none if there is nothing to write).
///
/// `buffers` is a constant buffer sequence, whose memory the caller keeps; or a dynamic buffer or a
/// basic_streambuf, from whose front the bytes written are removed at the end. The condition (see
/// is_completion_condition) is transfer_all() by default.
///
/// Returns the number of bytes written, also where an error ended it early. Errors: those of the
/// stream. The forms without `ec` throw system_error.
///
///     write(socket, std::array{buffer(header), buffer(body)});
template <class SyncWriteStream, detail::write_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t write(SyncWriteStream& stream, Buffers&& buffers, CompletionCondition condition,
                  error_code& ec) {
  return detail::transfer(detail::write_channel<SyncWriteStream>{stream},
                          std::forward<Buffers>(buffers), std::move(condition), ec);
}
template <class SyncWriteStream, detail::write_buffers Buffers>
std::size_t write(SyncWriteStream& stream, Buffers&& buffers, error_code& ec) {
  return write(stream, std::forward<Buffers>(buffers), transfer_all(), ec);
}
template <class SyncWriteStream, detail::write_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t write(SyncWriteStream& stream, Buffers&& buffers, CompletionCondition condition) {
  error_code ec;
  const std::size_t n = write(stream, std::forward<Buffers>(buffers), std::move(condition), ec);
  detail::throw_if(ec, "write");
  return n;
}
template <class SyncWriteStream, detail::write_buffers Buffers>
std::size_t write(SyncWriteStream& stream, Buffers&& buffers) {
  return write(stream, std::forward<Buffers>(buffers), transfer_all());
}

/// The asynchronous form of `write`: as many calls of `stream.async_write_some` as that takes; of
/// one buffer and a socket, one operation. The program starts no other write on the stream until it
/// has completed. The handler is not called inside this call, unless by an associated immediate
/// executor: where there is nothing to write, or where all of it can be written at once.
///
/// Completion signature: `void(error_code, std::size_t)`: the bytes written, also where an error or
/// a cancellation ended it early. The memory of a buffer sequence must stay valid until the handler
/// is called; so must what a dynamic buffer refers to, which the program leaves alone meanwhile.
///
/// Errors: those of the stream; `operation_aborted` when cancelled; `no_memory` where a step after
/// the first could not be allocated. Throws what the first step throws.
///
/// Cancellation: terminal and partial; total as long as nothing has been transferred. The bytes
/// reported are all that were transferred: none is lost.
/// Thread safety: as the stream; a request for cancellation may come from any thread.
///
///     async_write(socket, buffer(reply), [this](error_code ec, std::size_t) {
///       if (!ec) read_request();
///     });
template <class AsyncWriteStream, detail::write_buffers Buffers,
          detail::completion_condition CompletionCondition,
          detail::transfer_token WriteToken =
              default_completion_token_t<typename AsyncWriteStream::executor_type>>
auto async_write(AsyncWriteStream& stream, Buffers&& buffers, CompletionCondition condition,
                 WriteToken&& token = WriteToken()) {
  return detail::async_transfer(detail::write_channel<AsyncWriteStream>{stream},
                                std::forward<Buffers>(buffers), std::move(condition),
                                std::forward<WriteToken>(token));
}
template <class AsyncWriteStream, detail::write_buffers Buffers,
          detail::transfer_token WriteToken =
              default_completion_token_t<typename AsyncWriteStream::executor_type>>
auto async_write(AsyncWriteStream& stream, Buffers&& buffers, WriteToken&& token = WriteToken()) {
  return detail::async_transfer(detail::write_channel<AsyncWriteStream>{stream},
                                std::forward<Buffers>(buffers), transfer_all(),
                                std::forward<WriteToken>(token));
}

}  // namespace WEFT_NAMESPACE
