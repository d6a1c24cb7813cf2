// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

#include <weft/base/memory_size_class.hpp>

namespace WEFT_NAMESPACE::detail {

/// A free block, as a member of a list.
struct memory_block {
  memory_block* next;
};

/// The free blocks of a class that a thread has. While they are not to be used (the thread is
/// fresh, frees foreign blocks or has exited, or blocks are operator new's) both are empty and
/// there is no room: so the way through allocate() and deallocate() that looks at nothing else is
/// closed.
struct thread_blocks {
  memory_block* first = nullptr;     // those to take next; with room, a batch of the class
  std::uint32_t room = 0;            // how many more may be put there
  std::uint32_t batch = 0;           // 0, or the class's
  memory_block* previous = nullptr;  // `batch` blocks or none
};

/// Memory for the blocks of operations: many, small, short-lived, and often freed on another thread
/// than they came from. Three layers (after Bonwick's slabs and magazines):
///
///   thread    Per size class two lists of at most a batch each (64 blocks, or 16 KiB). A block is
///             taken from and freed to the first, with neither lock nor atomic operation; when it
///             is used up or full, the second takes its place; when that is, too, one batch is
///             exchanged with the store. At most 800 KiB in all; given back when the thread exits.
///             What it has from another thread (expect_foreign) goes back to the spans by itself.
///   store     Per size class a mutex, a depot of whole batches (256 KiB at most; halved when a
///             thread that used it exits), and spans of 64 KiB with a bitmap of their free blocks.
///             A span all of whose blocks are free goes back to its region, for any class.
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
  static constexpr std::size_t max_recycled_size = size_class::max_size;

  /// Throws std::bad_alloc.
  static void* allocate(std::size_t size, std::size_t alignment) {
    if (!recyclable(size, alignment)) [[unlikely]]
      return allocate_large(size, alignment);
    const unsigned index = size_class::of(size);
    thread_blocks& blocks = lists[index];
    memory_block* const block = blocks.first;
    if (!block) [[unlikely]]
      return allocate_slowly(index);
    blocks.first = block->next;
    ++blocks.room;
    return block;
  }

  /// Takes the size and alignment that the block was allocated with.
  static void deallocate(void* pointer, std::size_t size, std::size_t alignment) noexcept {
    if (!recyclable(size, alignment)) [[unlikely]]
      return deallocate_large(pointer, alignment);
    const unsigned index = size_class::of(size);
    thread_blocks& blocks = lists[index];
    if (blocks.room == 0) [[unlikely]]
      return deallocate_slowly(index, pointer);
    --blocks.room;
    blocks.first = ::new (pointer) memory_block{blocks.first};
  }

  /// The next `n` blocks that the calling thread frees go to the store instead of to its lists,
  /// unless it still expects some. For one that has taken over what another was to run: the blocks
  /// lie among those of the other, and used again here they would have both threads write to the
  /// same cache lines for as long as each frees a block and takes one.
  static void expect_foreign(std::uint32_t n) noexcept;

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

 private:
  static constexpr bool recyclable(std::size_t size, std::size_t alignment) noexcept {
    return size <= max_recycled_size && alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  }
  static void* allocate_large(std::size_t size, std::size_t alignment);
  static void deallocate_large(void* pointer, std::size_t alignment) noexcept;
  static void* allocate_slowly(unsigned index);
  static memory_block* take(thread_blocks& blocks, unsigned index);
  static void end_foreign() noexcept;
  static void deallocate_slowly(unsigned index, void* pointer) noexcept;

  struct give_back;

  // Constant initialisation and trivial destruction: reading them costs no guard, and they stay
  // valid while the thread's other destructors run.
  static constinit thread_local thread_blocks lists[size_class::count];
};

}  // namespace WEFT_NAMESPACE::detail
