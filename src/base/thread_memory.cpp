// SPDX-License-Identifier: BSL-1.0
#include <weft/base/thread_memory.hpp>

#include <atomic>
#include <new>
#include <utility>

#include "base/memory_store.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ADDRESS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WEFT_ADDRESS_SANITIZER
#endif

namespace WEFT_NAMESPACE::detail {
namespace {

enum class source : unsigned char { undecided, store, operator_new };

// Where blocks come from: decided once, by the first block or by bypass(). Relaxed: whoever frees a
// block has got it from a thread that knew.
#ifdef WEFT_ADDRESS_SANITIZER
constinit std::atomic<source> chosen{source::operator_new};
#else
constinit std::atomic<source> chosen{source::undecided};
#endif

source choose(source wanted) noexcept {
  source now = source::undecided;
  return chosen.compare_exchange_strong(now, wanted, std::memory_order_relaxed) ? wanted : now;
}

bool from_operator_new() noexcept {
  const source now = chosen.load(std::memory_order_relaxed);
  return (now == source::undecided ? choose(source::store) : now) == source::operator_new;
}

enum class state : unsigned char { fresh, active, foreign, exited };

constinit thread_local state current = state::fresh;

// While it frees foreign blocks: how many are to come, the lists that it takes from, and what it
// has freed. That is kept to the end: given back before, it would be what the thread takes next.
struct foreign_blocks {
  std::uint32_t expected;
  thread_blocks own[size_class::count];
  memory_block* freed[size_class::count];
};
constinit thread_local foreign_blocks foreign = {};

}  // namespace

constinit thread_local thread_blocks thread_memory::lists[size_class::count] = {};

/// Once armed, gives back a thread's blocks when it exits, and from the beginning of its life its
/// lists are open.
struct thread_memory::give_back {
  static bool activate() noexcept {
    static thread_local const give_back at_thread_exit;
    (void)at_thread_exit;
    return current == state::active;
  }

  give_back() noexcept {
    current = state::active;
    for (unsigned index = 0; index != size_class::count; ++index)
      lists[index].room = lists[index].batch = size_class::batch(index);
  }
  ~give_back() {
    if (current == state::foreign)
      end_foreign();
    current = state::exited;
    for (unsigned index = 0; index != size_class::count; ++index) {
      const thread_blocks all = std::exchange(lists[index], {});
      if (!all.first && !all.previous)
        continue;
      if (all.first)
        central_memory.give(index, all.first);
      if (all.previous)
        central_memory.give(index, all.previous);
      central_memory.halve_depot(index);
    }
  }
};

void* thread_memory::allocate_slowly(unsigned index) {
  if (lists[index].batch == 0) [[unlikely]] {
    if (from_operator_new())
      return ::operator new(size_class::sizes[index]);
    if (current == state::foreign) {
      try {
        return take(foreign.own[index], index);
      } catch (const std::bad_alloc&) {
        end_foreign();  // what it has freed may do
        return take(lists[index], index);
      }
    }
    if (current == state::exited || !give_back::activate())
      return central_memory.take_block(index);
  }
  return take(lists[index], index);
}

memory_block* thread_memory::take(thread_blocks& blocks, unsigned index) {
  memory_block* block;
  if (blocks.first) {
    block = blocks.first;
  } else if (blocks.previous) {
    block = std::exchange(blocks.previous, nullptr);
    blocks.room = 0;
  } else {
    const memory_batch taken = central_memory.take_batch(index);
    block = taken.first;
    blocks.room = blocks.batch - taken.size;
  }
  blocks.first = block->next;
  ++blocks.room;
  return block;
}

void thread_memory::deallocate_slowly(unsigned index, void* pointer) noexcept {
  thread_blocks& blocks = lists[index];
  if (blocks.batch == 0) [[unlikely]] {
    if (from_operator_new())
      return ::operator delete(pointer);
    if (current == state::foreign) {
      foreign.freed[index] = ::new (pointer) memory_block{foreign.freed[index]};
      if (--foreign.expected == 0)
        end_foreign();
      return;
    }
    if (current == state::exited || !give_back::activate())
      return central_memory.give(index, ::new (pointer) memory_block{nullptr});
  } else {
    if (blocks.previous)
      central_memory.give_batch(index, blocks.previous);
    blocks.previous = std::exchange(blocks.first, nullptr);
  }
  blocks.first = ::new (pointer) memory_block{nullptr};
  blocks.room = blocks.batch - 1;
}

void thread_memory::expect_foreign(std::uint32_t n) noexcept {
  if (current == state::fresh && !from_operator_new())
    give_back::activate();
  if (current != state::active || n == 0)
    return;
  foreign.expected = n;
  current = state::foreign;
  for (unsigned index = 0; index != size_class::count; ++index)
    foreign.own[index] = std::exchange(lists[index], {});
}

void thread_memory::end_foreign() noexcept {
  current = state::active;
  for (unsigned index = 0; index != size_class::count; ++index) {
    lists[index] = std::exchange(foreign.own[index], {});
    if (memory_block* const freed = std::exchange(foreign.freed[index], nullptr))
      central_memory.give(index, freed);
  }
}

void* thread_memory::allocate_large(std::size_t size, std::size_t alignment) {
  if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    return ::operator new(size, std::align_val_t(alignment));
  return ::operator new(size);
}

void thread_memory::deallocate_large(void* pointer, std::size_t alignment) noexcept {
  if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    ::operator delete(pointer, std::align_val_t(alignment));
  else
    ::operator delete(pointer);
}

bool thread_memory::bypass() noexcept {
  return choose(source::operator_new) == source::operator_new;
}

thread_memory::statistics thread_memory::read_statistics() noexcept {
  return central_memory.read_statistics();
}

}  // namespace WEFT_NAMESPACE::detail
