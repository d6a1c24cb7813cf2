// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/error_code.hpp>
#include <weft/io/io_handle.hpp>
#include <weft/io/op/write.hpp>

namespace WEFT_NAMESPACE::detail {

/// A descriptor that is not a socket, and the calls on it: the part of descriptors, pipes, serial
/// ports and files that is no template. Calls on a closed one fail with bad_descriptor.
///
/// Blocking: what is always ready (regular files, directories, block devices) is left as it is.
/// Other descriptors are put into non-blocking mode when the first asynchronous operation needs it;
/// synchronous calls then wait by poll(2), unless the user has set non_blocking. That mode belongs
/// to the open file description, which other processes may share (a terminal's, say): when the
/// descriptor is closed or released it is set back, if it was the library that set it. Not so if
/// the context was notified of a fork meanwhile: the other process's operations rely on the mode.
class WEFT_API descriptor_handle : public io_handle {
 public:
  using io_handle::io_handle;
  descriptor_handle(descriptor_handle&&) noexcept = default;
  descriptor_handle& operator=(descriptor_handle&& other) noexcept;
  ~descriptor_handle() { close(); }

  /// Takes over a descriptor. On failure it is still the caller's.
  error_code assign(int fd) noexcept;

  /// open(2), close-on-exec, and assign.
  error_code open(const char* path, int flags, unsigned permissions) noexcept;

  error_code close() noexcept;
  int release(error_code& ec) noexcept;

  /// Cancels all operations. Fails with bad_descriptor if closed.
  error_code cancel() noexcept;

  bool non_blocking() const noexcept { return (flags() & user_non_blocking) != 0; }
  error_code non_blocking(bool mode) noexcept;
  bool native_non_blocking() const noexcept { return (flags() & native_flags) != 0; }
  error_code native_non_blocking(bool mode) noexcept;
  error_code io_control(unsigned long command, void* data) noexcept;

  /// How its bytes are moved: `ready` or `file`.
  transfer_mode mode() const noexcept {
    return (flags() & always_ready) != 0 ? transfer_mode::file : transfer_mode::ready;
  }

  /// Lets asynchronous reads (or writes) be performed. Fails with bad_descriptor if it is closed,
  /// or not open for that.
  error_code make_asynchronous(io_queue what) noexcept;

  /// Fails with ESPIPE if the descriptor has no offsets, as a pipe; io_uring would not notice. A
  /// closed one passes: its operations report that.
  error_code check_offsets() const noexcept;

  // ---- calls that block, unless the user has set non_blocking; then would_block

  error_code wait(io_queue what) noexcept;
  std::size_t read(io_vector* vectors, std::size_t count, error_code& ec) noexcept;
  std::size_t write(io_vector* vectors, std::size_t count, error_code& ec) noexcept;
  std::size_t read_at(std::uint64_t offset, io_vector* vectors, std::size_t count,
                      error_code& ec) noexcept;
  std::size_t write_at(std::uint64_t offset, io_vector* vectors, std::size_t count,
                       error_code& ec) noexcept;

 private:
  enum flag : unsigned {
    user_non_blocking = 1,
    native_by_user = 2,     // O_NONBLOCK, as the user set it or handed it in
    native_by_library = 4,  // O_NONBLOCK, for asynchronous operations
    always_ready = 8,
    not_readable = 16,  // open for writing only: io_uring would wait for ever
    not_writable = 32,
    native_for_user = 64,  // O_NONBLOCK, for as long as user_non_blocking
    native_borrowed = native_by_library | native_for_user,
    native_flags = native_by_user | native_borrowed,
  };

  /// Whether the end of the handle, whose flags are `notes`, ends non-blocking mode.
  static bool restores_mode(unsigned notes) noexcept {
    return (notes & native_borrowed) != 0 && (notes & shared) == 0;
  }

  error_code make_non_blocking() noexcept;
  bool may_wait(io_queue what, error_code& ec) noexcept;
};

}  // namespace WEFT_NAMESPACE::detail
