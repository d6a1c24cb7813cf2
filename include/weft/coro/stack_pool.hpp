// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// The memory of one stack, as a stack allocator gives it: `size` bytes below `sp`.
struct stack_context {
  void* sp = nullptr;
  std::size_t size = 0;
  /// The stack pool's own.
  std::uint32_t size_class = 0;
};

/// How large a fiber's stack is to be, in bytes: `spawn(executor, stack_size(256 * 1024), f)`. The
/// fiber itself takes a few hundred bytes of it. The stack pool rounds it up: to a power of two, at
/// least 16 KiB; above 8 MiB to whole pages. Up to 2 KiB of that are left out at the top, more or
/// fewer, so that the stacks of many fibers lie at different places of the caches.
struct stack_size {
  explicit constexpr stack_size(std::size_t b) noexcept : bytes(b) {}
  std::size_t bytes;
};

/// What a fiber has unless it is told otherwise. Only the pages that are used take memory.
inline constexpr stack_size default_stack_size{64 * 1024};

/// The stacks of all fibers of the process: memory that is mapped once and used again. A stack
/// allocator: what spawn uses, unless it is given another one after std::allocator_arg.
///
/// Below each stack lies a guard page: a fiber that overflows its stack ends the program, with a
/// message. (An overflow in one step that is larger than a page may miss it.) On kernels before
/// Linux 6.13 each guard costs two of the process's mappings; a quarter of those allowed
/// (vm.max_map_count) may become guards, and further stacks have none: see statistics::unguarded.
///
/// Stacks are kept for use again, a few with each thread. About once a second, when stacks are
/// taken or given back, the memory of those goes back to the system that have not been needed since
/// the last time; an idle process keeps what it has, or calls `trim`.
///
/// Thread safety: any thread. O(1), amortised.
class WEFT_API stack_pool {
 public:
  explicit constexpr stack_pool(stack_size size = default_stack_size) noexcept : size_(size) {}

  /// Throws std::bad_alloc.
  stack_context allocate() const { return take(size_.bytes); }
  void deallocate(stack_context& stack) const noexcept { give(stack); }

  struct statistics {
    std::size_t in_use;      ///< stacks of fibers
    std::size_t cached;      ///< kept for use again, with their memory
    std::size_t high_water;  ///< the most that were in use at a time, of each rounded size, summed;
                             ///< give or take what threads keep
    std::size_t unguarded;   ///< without a guard page
    std::size_t bytes;       ///< of address space; memory is what was touched of it
  };
  /// Of the whole process. Takes a few locks.
  static statistics read_statistics() noexcept;

  /// Gives back the memory of all stacks that are neither in use nor kept by threads.
  static void trim() noexcept;

  /// The program handles SIGSEGV itself, and wants no message of overflows: otherwise the first
  /// fiber of the process installs a handler for it, which passes on what is not its own to the one
  /// before, and each thread that runs fibers gets an alternative signal stack. Call it before the
  /// first fiber.
  static void report_no_overflow() noexcept;

 private:
  static stack_context take(std::size_t size);
  static void give(stack_context& stack) noexcept;

  stack_size size_;
};

}  // namespace WEFT_NAMESPACE
