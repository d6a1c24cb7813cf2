// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <weft/base/operation.hpp>
#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// The allocator that stands in for std::allocator<T>, the default of associated_allocator: the
/// same interface over memory that is recycled per thread.
template <class T>
struct thread_allocator {
  using value_type = T;

  thread_allocator() = default;
  template <class U>
  thread_allocator(const thread_allocator<U>&) noexcept {}

  T* allocate(std::size_t n) {
    return static_cast<T*>(thread_memory::allocate(n * sizeof(T), alignof(T)));
  }
  void deallocate(T* p, std::size_t n) noexcept {
    thread_memory::deallocate(p, n * sizeof(T), alignof(T));
  }
  friend bool operator==(thread_allocator, thread_allocator) noexcept { return true; }
};

template <class Allocator, class T>
struct rebind_operation_allocator {
  using type = typename std::allocator_traits<Allocator>::template rebind_alloc<T>;
};
template <class U, class T>
struct rebind_operation_allocator<std::allocator<U>, T> {
  using type = thread_allocator<T>;
};

/// An allocator of `T` for what belongs to an operation whose handler has that allocator.
template <class T, class Allocator>
auto make_operation_allocator(const Allocator& allocator) noexcept {
  using type = typename rebind_operation_allocator<Allocator, T>::type;
  if constexpr (std::is_constructible_v<type, const Allocator&>)
    return type(allocator);
  else
    return type();  // std::allocator, replaced by the recycling one
}

/// Owns the memory of one operation, and the operation itself once it is constructed. What the
/// owner still holds at its end is destroyed and given back to the allocator, whatever throws.
///
/// To start: `operation_owner<Op, A> owner(alloc, args...); queue.push(owner.release());`
/// To end, inside Op's function, in this order (promise: memory first):
///   1. `operation_owner<Op, A> owner(op, alloc);`
///   2. move the handler and the results out of `*op`
///   3. `owner.reset();`
///   4. call the handler.
template <class Op, class Allocator>
class operation_owner {
  using allocator_type = typename rebind_operation_allocator<Allocator, Op>::type;
  using traits = std::allocator_traits<allocator_type>;

 public:
  template <class... Args>
  explicit operation_owner(std::in_place_t, const Allocator& allocator, Args&&... args)
      : allocator_(make_operation_allocator<Op>(allocator)) {
    Op* memory = std::to_address(traits::allocate(allocator_, 1));
    try {
      op_ = ::new (static_cast<void*>(memory)) Op(std::forward<Args>(args)...);
    } catch (...) {
      deallocate(memory);
      throw;
    }
  }

  operation_owner(Op* op, const Allocator& allocator) noexcept
      : allocator_(make_operation_allocator<Op>(allocator)), op_(op) {}

  operation_owner(operation_owner&& other) noexcept
      : allocator_(other.allocator_), op_(std::exchange(other.op_, nullptr)) {}
  operation_owner& operator=(operation_owner&&) = delete;
  ~operation_owner() { reset(); }

  Op* get() const noexcept { return op_; }
  Op* operator->() const noexcept { return op_; }
  Op* release() noexcept { return std::exchange(op_, nullptr); }

  void reset() noexcept {
    if (Op* op = std::exchange(op_, nullptr)) {
      op->~Op();
      deallocate(op);
    }
  }

 private:
  void deallocate(Op* memory) noexcept {
    using pointer = typename traits::pointer;
    if constexpr (std::is_pointer_v<pointer>)
      traits::deallocate(allocator_, memory, 1);
    else
      traits::deallocate(allocator_, std::pointer_traits<pointer>::pointer_to(*memory), 1);
  }

  [[no_unique_address]] allocator_type allocator_;
  Op* op_ = nullptr;
};

/// Ends an operation whose handler is not to be called. The memory goes back before the handler is
/// destroyed, for that may own it. (A handler whose move may throw is destroyed in its place.)
template <class Op, class Allocator, class Handler>
void dismiss_operation(operation_owner<Op, Allocator> owner, Handler& handler) noexcept {
  if constexpr (std::is_nothrow_move_constructible_v<Handler>) {
    [[maybe_unused]] const Handler last(std::move(handler));
    owner.reset();
  }
}

}  // namespace WEFT_NAMESPACE::detail
