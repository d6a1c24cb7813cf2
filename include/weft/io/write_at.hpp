// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/transfer.hpp>

namespace WEFT_NAMESPACE {

/// Writes to a random-access device, from `offset` bytes after its beginning on, until all of the
/// buffers is written, the condition says so, or an error occurs: as many calls of
/// `device.write_some_at` as that takes.
///
/// Buffers, condition, result and errors are those of `write`.
///
///     write_at(file, 64 * number, buffer(record));
template <class SyncRandomAccessWriteDevice, detail::write_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t write_at(SyncRandomAccessWriteDevice& device, std::uint64_t offset, Buffers&& buffers,
                     CompletionCondition condition, error_code& ec) {
  return detail::run_transfer(
      detail::write_at_channel<SyncRandomAccessWriteDevice>{device, offset},
      detail::make_write_transfer(std::forward<Buffers>(buffers), std::move(condition)), ec);
}
template <class SyncRandomAccessWriteDevice, detail::write_buffers Buffers>
std::size_t write_at(SyncRandomAccessWriteDevice& device, std::uint64_t offset, Buffers&& buffers,
                     error_code& ec) {
  return write_at(device, offset, std::forward<Buffers>(buffers), transfer_all(), ec);
}
template <class SyncRandomAccessWriteDevice, detail::write_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t write_at(SyncRandomAccessWriteDevice& device, std::uint64_t offset, Buffers&& buffers,
                     CompletionCondition condition) {
  error_code ec;
  const std::size_t n =
      write_at(device, offset, std::forward<Buffers>(buffers), std::move(condition), ec);
  detail::throw_if(ec, "write_at");
  return n;
}
template <class SyncRandomAccessWriteDevice, detail::write_buffers Buffers>
std::size_t write_at(SyncRandomAccessWriteDevice& device, std::uint64_t offset, Buffers&& buffers) {
  return write_at(device, offset, std::forward<Buffers>(buffers), transfer_all());
}

}  // namespace WEFT_NAMESPACE
