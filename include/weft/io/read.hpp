// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/transfer.hpp>

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
  return detail::run_transfer(
      detail::read_channel<SyncReadStream>{stream},
      detail::make_read_transfer(std::forward<Buffers>(buffers), std::move(condition)), ec);
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

}  // namespace WEFT_NAMESPACE
