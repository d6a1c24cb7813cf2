// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include <weft/base/config.hpp>

namespace WEFT_NAMESPACE {

/// The capacity of a channel whose senders never wait.
inline constexpr std::size_t unbounded = std::numeric_limits<std::size_t>::max();

namespace detail {

/// What a channel holds, first in, first out: a ring, made at once if its capacity is bounded. If
/// not, it doubles when it is full, and is given back when it has become empty, unless it is small.
/// Not thread-safe. Every member is O(1), amortised.
template <class T>
class channel_buffer {
 public:
  /// Throws std::bad_alloc.
  explicit channel_buffer(std::size_t capacity) : capacity_(capacity) {
    if (capacity != unbounded && capacity != 0) {
      values_ = std::allocator<T>().allocate(capacity);
      allocated_ = capacity;
    }
  }
  channel_buffer(const channel_buffer&) = delete;
  channel_buffer& operator=(const channel_buffer&) = delete;
  ~channel_buffer() {
    while (!empty())
      drop();
    deallocate();
  }

  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  bool full() const noexcept { return size_ == capacity_; }

  /// Takes `value`. False, and it is left alone, if there is no memory. Requires that it is not
  /// full.
  [[gnu::always_inline]] bool push(T& value) noexcept {
    assert(!full());
    if (size_ == allocated_ && !grow()) [[unlikely]]
      return false;
    std::size_t back = front_ + size_;
    if (back >= allocated_)
      back -= allocated_;
    std::construct_at(values_ + back, std::move(value));
    ++size_;
    return true;
  }

  /// The value that is to leave next. Requires that there is one.
  T& front() noexcept { return values_[front_]; }

  /// Destroys it.
  [[gnu::always_inline]] void drop() noexcept {
    std::destroy_at(values_ + front_);
    if (++front_ == allocated_)
      front_ = 0;
    if (--size_ == 0 && allocated_ > largest_kept) [[unlikely]]
      shrink();
  }

 private:
  static constexpr std::size_t smallest = 16;
  static constexpr std::size_t largest_kept = 1024;

  [[gnu::noinline]] bool grow() noexcept {
    const std::size_t wanted = allocated_ ? 2 * allocated_ : smallest;
    T* larger;
    try {
      larger = std::allocator<T>().allocate(wanted);
    } catch (...) {
      return false;
    }
    for (std::size_t i = 0; i != size_; ++i) {
      T& value = values_[front_ + i < allocated_ ? front_ + i : front_ + i - allocated_];
      std::construct_at(larger + i, std::move(value));
      std::destroy_at(&value);
    }
    deallocate();
    values_ = larger;
    allocated_ = wanted;
    return true;
  }

  [[gnu::noinline]] void shrink() noexcept {
    if (capacity_ == unbounded)
      deallocate();
  }

  void deallocate() noexcept {
    if (values_)
      std::allocator<T>().deallocate(values_, allocated_);
    values_ = nullptr;
    allocated_ = front_ = 0;
  }

  const std::size_t capacity_;
  T* values_ = nullptr;
  std::size_t allocated_ = 0;
  std::size_t front_ = 0;
  std::size_t size_ = 0;
};

}  // namespace detail
}  // namespace WEFT_NAMESPACE
