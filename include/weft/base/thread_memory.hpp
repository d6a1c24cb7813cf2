// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE::detail {

/// Memory for the blocks of operations: many, small, short-lived, and often freed on another thread
/// than they came from. Three layers (after Bonwick's slabs and magazines):
///
///   thread    Per size class two lists of at most a batch each (64 blocks, or 16 KiB). A block is
///             taken from and freed to the first, with neither lock nor atomic operation; when it
///             is used up or full, the second takes its place; when that is, too, one batch is
///             exchanged with the store. At most 800 KiB in all; given back when the thread exits.
///   store     Per size class a mutex, and spans of 64 KiB with a bitmap of their free blocks. A
///             span all of whose blocks are free goes back to its region, for any class.
///   regions   2 MiB each, mapped from the system; huge pages, where the system allows them, once
///             there are 8 MiB. Of regions without a span in use 64 MiB are kept, the others
///             unmapped. One block in use keeps its region.
///
/// Size classes are 16 bytes apart up to 256 bytes, 32 up to 512, 64 up to 1024. Larger blocks, and
/// those aligned more strictly than operator new does, are operator new's. So is every block in a
/// program under AddressSanitizer, which sees uses after free that way.
///
/// All functions may be called from any thread, before main and after it, and while the thread's
/// thread-local objects are destroyed (then block by block from the store). A child of a fork may
/// allocate and free; what other threads of the parent had in their lists is lost to it. O(1),
/// amortised over a batch; the system is called for whole regions only.
class WEFT_API thread_memory {
 public:
  /// The largest block that is recycled; larger ones, and over-aligned ones, pass straight through.
  static constexpr std::size_t max_recycled_size = 1024;

  /// Throws std::bad_alloc.
  static void* allocate(std::size_t size, std::size_t alignment);
  /// Takes the size and alignment that the block was allocated with.
  static void deallocate(void* pointer, std::size_t size, std::size_t alignment) noexcept;

  /// Makes every block one of operator new's: for tests in which the n-th allocation fails. To be
  /// called before the first block is taken. Returns whether every block is.
  static bool bypass() noexcept;

  struct statistics {
    std::size_t mapped;    ///< bytes of regions
    std::size_t reserved;  ///< of these, bytes of regions without a span in use
    std::size_t in_spans;  ///< bytes of spans in use
  };
  /// Of the whole process. Takes a mutex.
  static statistics read_statistics() noexcept;
};

}  // namespace WEFT_NAMESPACE::detail
