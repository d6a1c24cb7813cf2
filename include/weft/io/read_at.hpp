// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/transfer.hpp>

namespace WEFT_NAMESPACE {

/// Reads from a random-access device, from `offset` bytes after its beginning on, until the buffers
/// are full, the condition says so, or an error occurs: as many calls of `device.read_some_at` as
/// that takes.
///
/// Buffers, condition, result and errors are those of `read`; `error::eof` means that the device
/// ends before.
///
///     random_access_file file(context, "index", file_base::read_only);
///     std::array<char, 64> record;
///     read_at(file, 64 * number, buffer(record));
template <class SyncRandomAccessReadDevice, detail::read_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t read_at(SyncRandomAccessReadDevice& device, std::uint64_t offset, Buffers&& buffers,
                    CompletionCondition condition, error_code& ec) {
  return detail::run_transfer(
      detail::read_at_channel<SyncRandomAccessReadDevice>{device, offset},
      detail::make_read_transfer(std::forward<Buffers>(buffers), std::move(condition)), ec);
}
template <class SyncRandomAccessReadDevice, detail::read_buffers Buffers>
std::size_t read_at(SyncRandomAccessReadDevice& device, std::uint64_t offset, Buffers&& buffers,
                    error_code& ec) {
  return read_at(device, offset, std::forward<Buffers>(buffers), transfer_all(), ec);
}
template <class SyncRandomAccessReadDevice, detail::read_buffers Buffers,
          detail::completion_condition CompletionCondition>
std::size_t read_at(SyncRandomAccessReadDevice& device, std::uint64_t offset, Buffers&& buffers,
                    CompletionCondition condition) {
  error_code ec;
  const std::size_t n =
      read_at(device, offset, std::forward<Buffers>(buffers), std::move(condition), ec);
  detail::throw_if(ec, "read_at");
  return n;
}
template <class SyncRandomAccessReadDevice, detail::read_buffers Buffers>
std::size_t read_at(SyncRandomAccessReadDevice& device, std::uint64_t offset, Buffers&& buffers) {
  return read_at(device, offset, std::forward<Buffers>(buffers), transfer_all());
}

}  // namespace WEFT_NAMESPACE
