// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <type_traits>

#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE {

/// An allocator over memory that is recycled per thread: what the default, std::allocator, means
/// for the memory of operations, for anyone else's use. Stateless; blocks of more than
/// `detail::thread_memory::max_recycled_size` bytes pass straight through to operator new. A block
/// may be freed on another thread than it came from. `allocate` throws std::bad_alloc. O(1).
template <class T = void>
class recycling_allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;

  template <class U>
  struct rebind {
    using other = recycling_allocator<U>;
  };

  constexpr recycling_allocator() noexcept = default;
  template <class U>
  constexpr recycling_allocator(const recycling_allocator<U>&) noexcept {}

  friend constexpr bool operator==(const recycling_allocator&,
                                   const recycling_allocator&) noexcept {
    return true;
  }

  T* allocate(std::size_t n)
    requires(!std::is_void_v<T>)
  {
    return static_cast<T*>(detail::thread_memory::allocate(n * sizeof(T), alignof(T)));
  }
  template <class U = T>
    requires(!std::is_void_v<U>)
  void deallocate(U* p, std::size_t n) noexcept {
    detail::thread_memory::deallocate(p, n * sizeof(U), alignof(U));
  }
};

}  // namespace WEFT_NAMESPACE
