// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>
#include <span>

#include "base/memory_region.hpp"

namespace WEFT_NAMESPACE::detail {

/// The central store of all classes: what threads exchange batches of blocks with. Each class has
/// its own mutex, held for some nanoseconds per block that is taken, and per cache line's worth
/// that is given back. Any thread; usable before main and after it; across a fork (the mutexes are
/// taken before and let go of in parent and child).
class memory_store {
 public:
  constexpr memory_store() = default;

  /// Up to `n` blocks, and at least one; std::bad_alloc if there is no memory.
  memory_batch take(unsigned index, std::uint32_t n);
  /// Takes back a whole list.
  void give(unsigned index, memory_block* first) noexcept;

  thread_memory::statistics read_statistics() noexcept { return regions_.read_statistics(); }

  void lock() noexcept;
  void unlock() noexcept;

 private:
  struct alignas(64) shelf {
    std::mutex mutex;
    memory_span_list spans;  // those with free blocks
  };

  void give(unsigned index, std::span<const memory_span_part> parts) noexcept;

  shelf shelves_[size_class::count];
  memory_region_pool regions_;
};

extern constinit memory_store central_memory;

}  // namespace WEFT_NAMESPACE::detail
