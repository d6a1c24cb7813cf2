// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

namespace WEFT_NAMESPACE::detail {

/// A ring of buffers from which the kernel chooses where to put what it receives
/// (IORING_REGISTER_PBUF_RING, Linux 5.19). This is the memory shared with the kernel; the backend
/// registers it. Not thread-safe.
class buffer_ring {
 public:
  static constexpr unsigned entries = 1024;
  static constexpr int group = 0;

  /// No memory: `memory()` is null.
  buffer_ring() noexcept;
  buffer_ring(const buffer_ring&) = delete;
  buffer_ring& operator=(const buffer_ring&) = delete;
  ~buffer_ring();

  void* memory() const noexcept { return memory_; }

  /// Forgets all buffers. Only while it is not registered.
  void clear() noexcept;

  /// Lets the kernel have a buffer; at most `entries` at a time. O(1).
  void add(void* data, std::size_t size, unsigned id) noexcept;

 private:
  void* memory_;
};

}  // namespace WEFT_NAMESPACE::detail
