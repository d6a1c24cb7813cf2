// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstdint>

#include <weft/io/basic_file.hpp>
#include <weft/io/fs_initiation.hpp>
#include <weft/io/op/file_call.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// Starts a call on the descriptor of `file`.
template <class File, class Token>
auto start_file_call(File& file, Token& token, const io_kind& kind, int flags = 0,
                     std::uint64_t offset = 0, std::uint64_t length = 0) {
  return async_initiate<Token, void(error_code)>(handle_initiation<File, file_call_operation>(file),
                                                 token, &kind, handle_access::status_queue<File>,
                                                 flags, offset, length);
}

}  // namespace detail

/// Calls on open files, and on any other object with a descriptor: a directory opened as a
/// posix::descriptor, say.
///
/// Of all: Completion: void(error_code). Errors: error::bad_descriptor, those of the system call,
/// error::operation_aborted. Cancellation: terminal and partial, as long as neither kernel nor
/// helper thread has begun. On a stream_file they keep the order with its reads and writes; on a
/// random_access_file nothing has an order: wait for the writes first.
///
///     async_write(file, buffer(data), [&](error_code ec, std::size_t) {
///       if (!ec)
///         fs::async_fdatasync(file, [](error_code ec) { ... });
///     });
namespace fs {

/// Completes when data and metadata are on the disk: fsync(2).
template <detail::handle_owner File, completion_token_for<void(error_code)> Token =
                                         default_completion_token_t<typename File::executor_type>>
auto async_fsync(File& file,
                 Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return detail::start_file_call(file, token, detail::fsync_kind);
}
template <detail::handle_owner File>
void fsync(File& file, error_code& ec) {
  ec = detail::sync_file(file.native_handle(), false);
}
template <detail::handle_owner File>
void fsync(File& file) {
  error_code ec;
  fs::fsync(file, ec);
  detail::throw_if(ec, "fsync");
}

/// Completes when the data, and what is needed to read it, is on the disk: fdatasync(2).
template <detail::handle_owner File, completion_token_for<void(error_code)> Token =
                                         default_completion_token_t<typename File::executor_type>>
auto async_fdatasync(File& file,
                     Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return detail::start_file_call(file, token, detail::fdatasync_kind);
}
template <detail::handle_owner File>
void fdatasync(File& file, error_code& ec) {
  ec = detail::sync_file(file.native_handle(), true);
}
template <detail::handle_owner File>
void fdatasync(File& file) {
  error_code ec;
  fs::fdatasync(file, ec);
  detail::throw_if(ec, "fdatasync");
}

/// What fallocate does with a range: fallocate(2).
enum class allocate_mode : int {
  extend = 0x00,          ///< Reserves space; the file grows if the range ends after it.
  keep_size = 0x01,       ///< Reserves space; the size stays.
  punch_hole = 0x03,      ///< Frees space: the range reads as zeros; the size stays.
  collapse_range = 0x08,  ///< Removes the range; what follows moves up.
  zero_range = 0x10,      ///< The range reads as zeros, with space reserved.
  insert_range = 0x20,    ///< Makes room for the range; what follows moves down.
};

/// Changes the disk space behind `length` bytes (at least 1) from `offset`. Not every file system
/// knows every mode: error::operation_not_supported.
template <detail::handle_owner File, completion_token_for<void(error_code)> Token =
                                         default_completion_token_t<typename File::executor_type>>
auto async_fallocate(File& file, allocate_mode mode, std::uint64_t offset, std::uint64_t length,
                     Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return detail::start_file_call(file, token, detail::fallocate_kind, static_cast<int>(mode),
                                 offset, length);
}
template <detail::handle_owner File>
void fallocate(File& file, allocate_mode mode, std::uint64_t offset, std::uint64_t length,
               error_code& ec) {
  ec = detail::allocate_file(file.native_handle(), static_cast<int>(mode), offset, length);
}
template <detail::handle_owner File>
void fallocate(File& file, allocate_mode mode, std::uint64_t offset, std::uint64_t length) {
  error_code ec;
  fs::fallocate(file, mode, offset, length, ec);
  detail::throw_if(ec, "fallocate");
}

/// Cuts the file to `size` bytes, or extends it by zero bytes: ftruncate(2). A helper thread does
/// it on every backend. Synchronously: `file.resize(size)`.
template <detail::handle_owner File, completion_token_for<void(error_code)> Token =
                                         default_completion_token_t<typename File::executor_type>>
auto async_truncate(File& file, std::uint64_t size,
                    Token&& token = default_completion_token_t<typename File::executor_type>()) {
  return detail::start_file_call(file, token, detail::truncate_kind, 0, 0, size);
}

}  // namespace fs
}  // namespace WEFT_NAMESPACE
