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

// The blocks of a class that a thread has. While it has no lists of its own (it is fresh, has
// exited, or blocks are operator new's) both are empty and `max` is 0: so the way through
// allocate() and deallocate() that looks at nothing else is closed.
struct magazines {
  memory_batch loaded;               // at most `max` blocks
  std::uint32_t max = 0;             // 0, or the class's batch
  memory_block* previous = nullptr;  // `max` blocks or none
};

enum class state : unsigned char { fresh, active, exited };

// Trivial types with constant initialisation: reading them costs no guard, and they stay valid
// while the thread's other destructors run.
constinit thread_local magazines caches[size_class::count] = {};
constinit thread_local state current = state::fresh;

struct drain {
  void arm() const noexcept {}
  ~drain() {
    current = state::exited;
    for (unsigned index = 0; index != size_class::count; ++index) {
      const magazines all = std::exchange(caches[index], {});
      if (all.loaded.first)
        central_memory.give(index, all.loaded.first);
      if (all.previous)
        central_memory.give(index, all.previous);
    }
  }
};

thread_local drain at_thread_exit;

// Gives the thread lists of its own, if it may have them.
bool activate() noexcept {
  if (current == state::fresh) {
    at_thread_exit.arm();
    current = state::active;
    for (unsigned index = 0; index != size_class::count; ++index)
      caches[index].max = size_class::batch(index);
  }
  return current == state::active;
}

[[gnu::noinline]] void* allocate_slowly(unsigned index) {
  magazines& cache = caches[index];
  if (cache.max == 0) [[unlikely]] {
    if (from_operator_new())
      return ::operator new(size_class::sizes[index]);
    if (!activate())
      return central_memory.take(index, 1).first;
  }
  if (cache.previous)
    cache.loaded = {std::exchange(cache.previous, nullptr), cache.max};
  else
    cache.loaded = central_memory.take(index, cache.max);
  --cache.loaded.size;
  return std::exchange(cache.loaded.first, cache.loaded.first->next);
}

[[gnu::noinline]] void deallocate_slowly(unsigned index, void* pointer) noexcept {
  magazines& cache = caches[index];
  if (cache.max == 0) [[unlikely]] {
    if (from_operator_new())
      return ::operator delete(pointer);
    if (!activate())
      return central_memory.give(index, ::new (pointer) memory_block{nullptr});
  } else {
    if (cache.previous)
      central_memory.give(index, cache.previous);
    cache.previous = std::exchange(cache.loaded, {}).first;
  }
  cache.loaded = {::new (pointer) memory_block{nullptr}, 1};
}

bool recyclable(std::size_t size, std::size_t alignment) noexcept {
  return size <= thread_memory::max_recycled_size && alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

}  // namespace

void* thread_memory::allocate(std::size_t size, std::size_t alignment) {
  if (!recyclable(size, alignment)) [[unlikely]] {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      return ::operator new(size, std::align_val_t(alignment));
    return ::operator new(size);
  }
  const unsigned index = size_class::of(size);
  memory_batch& loaded = caches[index].loaded;
  memory_block* block = loaded.first;
  if (!block) [[unlikely]]
    return allocate_slowly(index);
  loaded.first = block->next;
  --loaded.size;
  return block;
}

void thread_memory::deallocate(void* pointer, std::size_t size, std::size_t alignment) noexcept {
  if (!recyclable(size, alignment)) [[unlikely]] {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      ::operator delete(pointer, std::align_val_t(alignment));
    else
      ::operator delete(pointer);
    return;
  }
  const unsigned index = size_class::of(size);
  magazines& cache = caches[index];
  if (cache.loaded.size == cache.max) [[unlikely]]
    return deallocate_slowly(index, pointer);
  cache.loaded.first = ::new (pointer) memory_block{cache.loaded.first};
  ++cache.loaded.size;
}

bool thread_memory::bypass() noexcept {
  return choose(source::operator_new) == source::operator_new;
}

thread_memory::statistics thread_memory::read_statistics() noexcept {
  return central_memory.read_statistics();
}

}  // namespace WEFT_NAMESPACE::detail
