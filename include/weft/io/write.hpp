// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/transfer.hpp>

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
  return detail::run_transfer(
      detail::write_channel<SyncWriteStream>{stream},
      detail::make_write_transfer(std::forward<Buffers>(buffers), std::move(condition)), ec);
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

}  // namespace WEFT_NAMESPACE
