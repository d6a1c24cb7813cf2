// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <mutex>

#include <weft/io/buffer.hpp>
#include <weft/io/op/registered_transfer.hpp>

namespace WEFT_NAMESPACE::detail {

class ring;

/// The buffers registered with a ring, of one registration at a time. They lie in a sparse table
/// (Linux 5.19), of which single entries are replaced: that waits for no operation, and the kernel
/// keeps the memory of those under way until they are done.
///
/// An operation may name an entry that another thread is replacing, or one that a later
/// registration has taken: the kernel checks that the operation's bytes lie within the entry, and
/// refuses it otherwise. So what is looked up here is a hint. Thread-safe.
class fixed_buffers {
 public:
  static constexpr unsigned capacity = 1024;

  /// As detail::register_buffers. Of a longer sequence than `capacity`, or from the first buffer on
  /// that the kernel refuses (RLIMIT_MEMLOCK), the rest are ordinary buffers; null if all are.
  const void* add(ring& ring, const mutable_buffer* buffers, std::size_t count) noexcept;

  void remove(ring& ring, const void* scope) noexcept;

  /// Whether the buffer is in the table.
  bool contain(const registered_transfer& buffer) const noexcept {
    return buffer.scope == scope_.load(std::memory_order_acquire) &&
           static_cast<unsigned>(buffer.index) < count_.load(std::memory_order_relaxed);
  }

  /// The ring is another now, with no table.
  void forget() noexcept;

 private:
  std::mutex mutex_;
  bool has_table_ = false;  // guarded by mutex_
  // Both are written under mutex_. The scope is stored last (release): who sees it (acquire) sees
  // its count.
  std::atomic<const void*> scope_{nullptr};
  std::atomic<unsigned> count_{0};
};

}  // namespace WEFT_NAMESPACE::detail
