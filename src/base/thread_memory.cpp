// SPDX-License-Identifier: BSL-1.0
#include <weft/base/thread_memory.hpp>

#include <new>

namespace WEFT_NAMESPACE::detail {
namespace {

// Size classes are multiples of 64 bytes. A class keeps at most `max_blocks` free blocks; what
// comes above goes back to operator delete, so that a thread which only frees does not hoard.
constexpr std::size_t granule = 64;
constexpr std::size_t classes = thread_memory::max_recycled_size / granule;
constexpr unsigned max_blocks = 64;

struct free_block {
  free_block* next;
};

struct free_list {
  free_block* first;
  unsigned size;
};

enum class state : unsigned char { fresh, active, exited };

// Trivial types with constant initialisation: reading them costs no guard, and they stay valid
// while the thread's other destructors run.
constinit thread_local free_list lists[classes] = {};
constinit thread_local state current = state::fresh;

struct drain {
  void arm() const noexcept {}
  ~drain() {
    current = state::exited;
    for (free_list& list : lists)
      while (free_block* block = list.first) {
        list.first = block->next;
        ::operator delete(block);
      }
  }
};

thread_local drain at_thread_exit;

bool recyclable(std::size_t size, std::size_t alignment) noexcept {
  return size <= thread_memory::max_recycled_size && alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
}

std::size_t class_of(std::size_t size) noexcept {
  return size == 0 ? 0 : (size - 1) / granule;
}

}  // namespace

void* thread_memory::allocate(std::size_t size, std::size_t alignment) {
  if (!recyclable(size, alignment)) {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      return ::operator new(size, std::align_val_t(alignment));
    return ::operator new(size);
  }
  const std::size_t index = class_of(size);
  free_list& list = lists[index];
  if (free_block* block = list.first) {
    list.first = block->next;
    --list.size;
    return block;
  }
  return ::operator new((index + 1) * granule);
}

void thread_memory::deallocate(void* pointer, std::size_t size, std::size_t alignment) noexcept {
  if (!recyclable(size, alignment)) {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      ::operator delete(pointer, std::align_val_t(alignment));
    else
      ::operator delete(pointer);
    return;
  }
  free_list& list = lists[class_of(size)];
  if (current != state::active) [[unlikely]] {
    if (current == state::fresh) {
      at_thread_exit.arm();
      current = state::active;
    }
  }
  if (current == state::exited || list.size == max_blocks) {
    ::operator delete(pointer);
    return;
  }
  list.first = ::new (pointer) free_block{list.first};
  ++list.size;
}

}  // namespace WEFT_NAMESPACE::detail
