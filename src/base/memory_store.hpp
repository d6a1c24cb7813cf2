// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <mutex>
#include <span>

#include <weft/base/word_mutex.hpp>

#include "base/memory_region.hpp"

namespace WEFT_NAMESPACE::detail {

/// The central store of all classes: what threads exchange batches of blocks with.
///
/// Each class has a depot of whole batches, the latest on top: with it a batch is exchanged as it
/// is, in O(1). What it has no room for goes back to the spans block by block, and what it has not
/// comes from there. Its capacity follows what is taken and given in turn: it is doubled, up to
/// 256 KiB of blocks, when a thread takes a batch and finds none; and one less, down to one batch,
/// when one is given and finds no room: then that one and one more go back to the spans, never many
/// at a time. So a program that only frees keeps little there, though any block may keep a span. A
/// thread that exits halves the depots of the classes that it had blocks of: the others' are left
/// to those who use them, and of what nobody uses little stays.
///
/// Each class has its own mutex, held for some nanoseconds, and for some more per block that is
/// taken from a span, and per cache line's worth that is given to one. Any thread; usable before
/// main and after it; across a fork (the mutexes are taken before and let go of in parent and
/// child).
class memory_store {
 public:
  constexpr memory_store() = default;

  /// Up to a batch of blocks, and at least one; std::bad_alloc if there is no memory.
  memory_batch take_batch(unsigned index);
  /// Takes back a batch, which is whole.
  void give_batch(unsigned index, memory_block* first) noexcept;

  /// A block of a span; std::bad_alloc if there is no memory.
  memory_block* take_block(unsigned index);
  /// Gives a list of any length back to the spans.
  void give(unsigned index, memory_block* first) noexcept;

  /// Gives the upper half of a depot, or its last batch, back to the spans.
  void halve_depot(unsigned index) noexcept;

  thread_memory::statistics read_statistics() noexcept { return regions_.read_statistics(); }

  void lock() noexcept;
  void unlock() noexcept;

 private:
  static constexpr std::uint32_t max_depot = 256 * 1024;  // bytes

  /// A batch in a depot: its first block.
  struct stored_batch : memory_block {
    stored_batch* below;
  };

  struct alignas(64) shelf {
    word_mutex mutex;  // one of many: see fork_order.hpp
    stored_batch* depot = nullptr;
    std::uint32_t batches = 0;   // in the depot
    std::uint32_t capacity = 1;  // of the depot
    memory_span_list spans;      // those with free blocks
  };

  memory_batch take(unsigned index, std::uint32_t n, std::unique_lock<word_mutex> lock);
  stored_batch* take_above(shelf& from, std::uint32_t n) noexcept;
  void give(unsigned index, stored_batch* batches) noexcept;
  void give(unsigned index, std::span<const memory_span_part> parts) noexcept;

  shelf shelves_[size_class::count];
  memory_region_pool regions_;
};

extern constinit memory_store central_memory;

}  // namespace WEFT_NAMESPACE::detail
