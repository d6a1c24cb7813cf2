// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Memory for short-lived blocks, recycled per thread: a block that is freed goes into a small
/// cache of the freeing thread, and the next request of its size class on that thread takes it.
/// In the steady state nothing reaches operator new.
///
/// Both functions may be called from any thread, also while it exits; a block may be freed on
/// another thread than it came from. O(1). `allocate` throws std::bad_alloc.
class WEFT_API thread_memory {
 public:
  /// The largest block that is recycled; larger ones, and over-aligned ones, pass straight through.
  static constexpr std::size_t max_recycled_size = 1024;

  static void* allocate(std::size_t size, std::size_t alignment);
  static void deallocate(void* pointer, std::size_t size, std::size_t alignment) noexcept;
};

}  // namespace WEFT_NAMESPACE::detail
