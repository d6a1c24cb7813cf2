// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <weft/io/composed_transfer.hpp>

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
  return detail::transfer(detail::write_at_channel<SyncRandomAccessWriteDevice>{device, offset},
                          std::forward<Buffers>(buffers), std::move(condition), ec);
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

/// The asynchronous form of `write_at`: as many calls of `device.async_write_some_at` as that
/// takes. The program starts no other write on the device until it has completed. Never completes
/// inside this call, unless by an associated immediate executor (where there is nothing to write).
///
/// Completion signature: `void(error_code, std::size_t)`: the bytes written, also where an error or
/// a cancellation ended it early. The memory of a buffer sequence must stay valid until the handler
/// is called; so must what a dynamic buffer refers to, which the program leaves alone meanwhile.
///
/// Errors: those of the device; `operation_aborted` when cancelled; `no_memory` where a step after
/// the first could not be allocated. Throws what the first step throws.
///
/// Cancellation: terminal and partial; total as long as nothing has been transferred. The bytes
/// reported are all that were transferred: none is lost.
/// Thread safety: as the device; a request for cancellation may come from any thread.
template <class AsyncRandomAccessWriteDevice, detail::write_buffers Buffers,
          detail::completion_condition CompletionCondition,
          detail::transfer_token WriteToken =
              default_completion_token_t<typename AsyncRandomAccessWriteDevice::executor_type>>
auto async_write_at(AsyncRandomAccessWriteDevice& device, std::uint64_t offset, Buffers&& buffers,
                    CompletionCondition condition, WriteToken&& token = WriteToken()) {
  return detail::async_transfer(
      detail::write_at_channel<AsyncRandomAccessWriteDevice>{device, offset},
      std::forward<Buffers>(buffers), std::move(condition), std::forward<WriteToken>(token));
}
template <class AsyncRandomAccessWriteDevice, detail::write_buffers Buffers,
          detail::transfer_token WriteToken =
              default_completion_token_t<typename AsyncRandomAccessWriteDevice::executor_type>>
auto async_write_at(AsyncRandomAccessWriteDevice& device, std::uint64_t offset, Buffers&& buffers,
                    WriteToken&& token = WriteToken()) {
  return detail::async_transfer(
      detail::write_at_channel<AsyncRandomAccessWriteDevice>{device, offset},
      std::forward<Buffers>(buffers), transfer_all(), std::forward<WriteToken>(token));
}

}  // namespace WEFT_NAMESPACE
