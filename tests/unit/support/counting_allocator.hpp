// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <type_traits>

namespace weft_test {

struct allocation_counts {
  std::atomic<std::size_t> allocations{0};
  std::atomic<std::size_t> blocks{0};  // allocated and not freed
  std::atomic<int> fail_after{-1};     // how many allocations succeed before one fails; -1: all
};

/// An allocator that counts, and can be told to fail.
template <class T>
class counting_allocator {
 public:
  using value_type = T;

  explicit counting_allocator(allocation_counts& c) noexcept : counts_(&c) {}
  template <class U>
  counting_allocator(const counting_allocator<U>& other) noexcept : counts_(other.counts_) {}

  T* allocate(std::size_t n)
    requires(!std::is_void_v<T>)
  {
    if (counts_->fail_after.load() == 0)
      throw std::bad_alloc();
    if (counts_->fail_after.load() > 0)
      --counts_->fail_after;
    ++counts_->allocations;
    ++counts_->blocks;
    return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
  }
  template <class U = T>
    requires(!std::is_void_v<U>)
  void deallocate(U* p, std::size_t) noexcept {
    --counts_->blocks;
    ::operator delete(p, std::align_val_t(alignof(U)));
  }

  friend bool operator==(const counting_allocator& a, const counting_allocator& b) noexcept {
    return a.counts_ == b.counts_;
  }

 private:
  template <class>
  friend class counting_allocator;
  allocation_counts* counts_;
};

}  // namespace weft_test
