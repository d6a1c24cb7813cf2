// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/composed_transfer.hpp>

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
  return detail::transfer(detail::read_at_channel<SyncRandomAccessReadDevice>{device, offset},
                          std::forward<Buffers>(buffers), std::move(condition), ec);
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

/// The asynchronous form of `read_at`: as many calls of `device.async_read_some_at` as that takes.
/// The program starts no other read on the device until it has completed. Never completes inside
/// this call, unless by an associated immediate executor (where there is nothing to read).
///
/// Completion signature: `void(error_code, std::size_t)`: the bytes read, also where an error or a
/// cancellation ended it early. The memory of a buffer sequence must stay valid until the handler
/// is called; so must what a dynamic buffer refers to, which the program leaves alone meanwhile.
///
/// Errors: those of the device, `error::eof` where it ends first; `operation_aborted` when
/// cancelled; `no_memory` where a step after the first could not be allocated. Throws what the
/// first step throws.
///
/// Cancellation: terminal and partial; total as long as nothing has been transferred. The bytes
/// reported are all that were transferred: none is lost.
/// Thread safety: as the device; a request for cancellation may come from any thread.
template <class AsyncRandomAccessReadDevice, detail::read_buffers Buffers,
          detail::completion_condition CompletionCondition,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncRandomAccessReadDevice::executor_type>>
auto async_read_at(AsyncRandomAccessReadDevice& device, std::uint64_t offset, Buffers&& buffers,
                   CompletionCondition condition, ReadToken&& token = ReadToken()) {
  return detail::async_transfer(
      detail::read_at_channel<AsyncRandomAccessReadDevice>{device, offset},
      std::forward<Buffers>(buffers), std::move(condition), std::forward<ReadToken>(token));
}
template <class AsyncRandomAccessReadDevice, detail::read_buffers Buffers,
          detail::transfer_token ReadToken =
              default_completion_token_t<typename AsyncRandomAccessReadDevice::executor_type>>
auto async_read_at(AsyncRandomAccessReadDevice& device, std::uint64_t offset, Buffers&& buffers,
                   ReadToken&& token = ReadToken()) {
  return detail::async_transfer(
      detail::read_at_channel<AsyncRandomAccessReadDevice>{device, offset},
      std::forward<Buffers>(buffers), transfer_all(), std::forward<ReadToken>(token));
}

}  // namespace WEFT_NAMESPACE
