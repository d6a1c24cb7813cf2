// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <weft/base/reference_count.hpp>
#include <weft/base/word_mutex.hpp>
#include <weft/io/received_buffer.hpp>

#include "io/backend/uring/buffer_ring.hpp"

namespace WEFT_NAMESPACE::detail {

class backend;

/// The buffers of a context's receive streams.
///
/// With io_uring, up to buffer_ring::entries of them (4 MiB) are lent to the kernel, which puts
/// what it receives for any stream into the next one. They are made as they come to be needed. When
/// all are taken, and on epoll always, a stream that is asked for bytes receives into a buffer of
/// its own from `take`: so no stream waits for the owners of another's bytes.
///
/// Life: the pool belongs to its driver, and outlives it while anyone owns a buffer. Each of them
/// has a reference, and drops it after it has unlocked the mutex: nobody can be in it at the end.
///
/// Thread safety: all members. Cost: one lock, which is taken after that of an object; O(1), but
/// for `offer`, which sometimes makes new buffers.
class stream_buffer_pool {
 public:
  struct closer {
    void operator()(stream_buffer_pool* pool) const noexcept { pool->close(); }
  };
  using owner = std::unique_ptr<stream_buffer_pool, closer>;

  static owner make() { return owner(new stream_buffer_pool); }

  /// Lets the kernel choose buffers of this pool. False: it cannot.
  bool serve(backend& kernel) noexcept;

  /// In the child of a fork, after the backend was restarted: what the kernel had it gets again.
  void restart(backend& kernel) noexcept;

  /// Makes sure that the kernel has buffers. False: all there may be are taken.
  bool offer() noexcept;

  /// The buffer that the kernel has filled.
  stream_buffer* filled(unsigned id) noexcept;

  /// A buffer that the kernel does not know; null if memory is short.
  stream_buffer* take() noexcept;

  void give_back(stream_buffer* buffer) noexcept;

 private:
  static constexpr unsigned first_buffers = 16;
  static constexpr unsigned max_spare = 64;

  stream_buffer_pool() = default;
  ~stream_buffer_pool();

  void close() noexcept;
  stream_buffer* make_buffer(unsigned id) noexcept;
  void lend(stream_buffer& buffer) noexcept;
  void release() noexcept;
  static void free(stream_buffer* buffer) noexcept;

  reference_count references_;  // the driver, and each buffer that somebody owns
  word_mutex mutex_;
  // All guarded by mutex_.
  std::optional<buffer_ring> ring_;
  std::unique_ptr<stream_buffer*[]> lent_;  // by id
  bool registered_ = false;
  bool closed_ = false;     // the driver is gone
  unsigned made_ = 0;       // buffers with an id
  unsigned available_ = 0;  // of these, those the kernel has and is not known to have filled
  unsigned spare_count_ = 0;
  stream_item* spare_ = nullptr;  // buffers without an id
};

}  // namespace WEFT_NAMESPACE::detail
