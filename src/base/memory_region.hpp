// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/memory_span.hpp"

namespace WEFT_NAMESPACE::detail {

/// 2 MiB of address space, aligned, of 32 spans: what is taken from the system and given back to
/// it. Its header stands before that of its first span.
struct memory_region {
  static constexpr std::size_t extent = std::size_t{2} * 1024 * 1024;
  static constexpr std::uint32_t all_free = 0xffffffff;
  static_assert(extent / memory_span::extent == 32);

  memory_region* previous = nullptr;
  memory_region* next = nullptr;
  std::uint32_t free = all_free;  // one bit per span
};
static_assert(sizeof(memory_region) <= memory_span::offset);

/// All regions of the process. Of those with no span in use `max_reserve` bytes are kept; what
/// comes above goes back to the system. Spans are taken from regions already in use first.
///
/// Lock order: a store's mutex, then the pool's. Any thread; O(1) but for the system's calls.
class memory_region_pool {
 public:
  static constexpr std::size_t max_reserve = std::size_t{64} * 1024 * 1024;
  /// From so many bytes on, regions are asked to be huge pages: a small program pays for no more
  /// pages than it touches, a large one for few page faults.
  static constexpr std::size_t small_program = std::size_t{8} * 1024 * 1024;

  constexpr memory_region_pool() = default;

  /// A span of blocks of class `index`; null if there is no memory.
  memory_span* take(unsigned index) noexcept;
  /// Takes back a span that is whole. Returns a region that has become surplus, or null: the caller
  /// unmaps it when it holds no lock.
  [[nodiscard]] memory_region* give(memory_span& span) noexcept;
  static void unmap(memory_region* region) noexcept;

  thread_memory::statistics read_statistics() noexcept;

  std::mutex& mutex() noexcept { return mutex_; }

 private:
  class list {
   public:
    memory_region* front() const noexcept { return first_; }
    void push_front(memory_region& region) noexcept;
    void erase(memory_region& region) noexcept;

   private:
    memory_region* first_ = nullptr;
  };

  memory_region* map() noexcept;

  std::mutex mutex_;
  list used_;     // with spans in use, and free ones
  list reserve_;  // with no span in use
  std::size_t mapped_ = 0;
  std::size_t reserved_ = 0;
  std::size_t spans_ = 0;  // in use
};

}  // namespace WEFT_NAMESPACE::detail
