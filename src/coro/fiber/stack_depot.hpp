// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <weft/base/config.hpp>

#include "coro/fiber/stack_memory.hpp"

namespace WEFT_NAMESPACE::detail {

/// The stacks of one size, named by the lowest of their usable bytes; their guard pages lie below.
/// They are carved from slabs as they are needed, and taken last in, first out, so that those at
/// the bottom of `free_` are idle for longest.
///
/// Decay: what has not been taken between two looks, an interval apart, was idle for all of it. A
/// slab all of whose stacks were is unmapped; of others the memory goes back, of some at a look.
/// Looks are taken when stacks come back.
///
/// One mutex, held for O(n) of the stacks taken or given; at a look, for the system calls too.
class WEFT_API stack_depot {
 public:
  static constexpr std::int64_t interval = 1'000'000'000;  // nanoseconds of the steady clock
  static constexpr std::size_t most_discarded = 256;       // at a look

  /// A stack has `usable` bytes, whole pages.
  stack_depot(std::size_t usable, stack_guards& guards) noexcept
      : usable_(usable), guards_(guards) {}
  stack_depot(const stack_depot&) = delete;
  stack_depot& operator=(const stack_depot&) = delete;
  ~stack_depot();

  /// Takes one stack, and more that are free, up to `most`. Returns how many. Throws
  /// std::bad_alloc.
  std::size_t take(std::byte** stacks, std::size_t most);
  void give(std::byte* const* stacks, std::size_t count) noexcept;

  /// Gives the memory of all free stacks back.
  void trim() noexcept;

  struct counts {
    std::size_t out;          ///< taken and not given back
    std::size_t high_water;   ///< the most there were of these
    std::size_t with_memory;  ///< free, and not discarded
    std::size_t unguarded;
    std::size_t bytes;  ///< mapped
  };
  counts read() const noexcept;

  /// Around a fork, so that the child finds it at rest.
  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  struct slab {
    std::byte* memory;
    std::size_t stacks;
    std::size_t carved = 0;
    std::size_t guarded = 0;
    std::size_t idle = 0;  // at a look
  };

  std::size_t stride() const noexcept { return usable_ + page_size(); }
  slab& slab_of(const std::byte* stack) noexcept;
  void add_slab();
  std::byte* carve() noexcept;
  void look() noexcept;
  void release(std::size_t idle) noexcept;

  const std::size_t usable_;
  stack_guards& guards_;

  mutable std::mutex mutex_;
  std::vector<slab> slabs_;           // by address
  std::byte* carved_from_ = nullptr;  // the memory of the slab that has stacks left to carve
  std::vector<std::byte*> free_;      // with room for all stacks
  std::size_t discarded_ = 0;         // the first so many of these have no memory
  std::size_t least_free_ = 0;        // since the last look
  std::int64_t last_look_ = 0;
  std::size_t stacks_ = 0;
  std::size_t out_ = 0;
  std::size_t high_water_ = 0;
};

}  // namespace WEFT_NAMESPACE::detail
