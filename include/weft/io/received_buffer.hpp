// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <utility>

#include <weft/io/buffer.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

class stream_buffer_pool;

/// What a stream has taken and keeps until it is asked for: a link of its queue.
struct stream_item {
  stream_item* next = nullptr;
};

/// A block of a context's buffers for streams: this header, then the bytes.
struct alignas(16) stream_buffer : stream_item {
  static constexpr std::size_t capacity = 4096;  ///< In bytes.
  static constexpr unsigned no_id = ~0u;

  explicit stream_buffer(stream_buffer_pool& owner, unsigned ring_id) noexcept
      : pool(&owner), id(ring_id) {}

  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }

  stream_buffer_pool* const pool;
  std::size_t size = 0;  // of the bytes received
  const unsigned id;     // by which the kernel knows it, or no_id
  bool offered = false;  // the kernel has it; guarded by the pool's lock
};

/// Gives a buffer back to its pool. Any thread. O(1).
WEFT_API void give_back(stream_buffer* buffer) noexcept;

}  // namespace detail

/// Bytes that a receive_stream received, in memory lent by the context; it goes back when this
/// object is destroyed or reset. The owner may change the bytes. Move-only; empty when default
/// constructed or moved from. It may outlive the stream, the socket and the context.
///
/// Thread safety: distinct objects are independent, and each may be destroyed on any thread.
/// Complexity: every member is O(1).
///
///     stream.async_receive([&](error_code ec, received_buffer bytes) {
///       parse(bytes.data(), bytes.size());
///       async_write(other, bytes.buffer(), [b = std::move(bytes)](error_code, std::size_t) {});
///     });
class received_buffer {
 public:
  received_buffer() = default;
  explicit received_buffer(detail::stream_buffer* block) noexcept : block_(block) {}
  received_buffer(received_buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)) {}
  received_buffer& operator=(received_buffer&& other) noexcept {
    if (this != &other) {
      reset();
      block_ = std::exchange(other.block_, nullptr);
    }
    return *this;
  }
  ~received_buffer() { reset(); }

  std::byte* data() const noexcept { return block_ ? block_->data() : nullptr; }
  /// In bytes; 1 to 4096, or 0 if this object owns nothing.
  std::size_t size() const noexcept { return block_ ? block_->size : 0; }
  bool empty() const noexcept { return size() == 0; }
  std::byte* begin() const noexcept { return data(); }
  std::byte* end() const noexcept { return data() + size(); }

  /// A buffer sequence of the bytes, valid as long as this object owns them.
  mutable_buffer buffer() const noexcept { return {data(), size()}; }

  /// Gives the memory back.
  void reset() noexcept {
    if (detail::stream_buffer* block = std::exchange(block_, nullptr))
      detail::give_back(block);
  }

 private:
  detail::stream_buffer* block_ = nullptr;
};

}  // namespace WEFT_NAMESPACE
