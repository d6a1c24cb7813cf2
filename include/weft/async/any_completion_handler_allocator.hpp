// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <weft/base/operation_memory.hpp>
#include <weft/base/reference_count.hpp>

namespace WEFT_NAMESPACE {

template <class... Signatures>
class any_completion_handler;

namespace detail {

/// An allocator of any type. A small trivial one is kept in place, another one in a block of its
/// own memory, counted by reference; so it outlives the handler it came from, as an operation that
/// frees its memory after its handler needs. Copies may be used on any thread if the target may.
class any_allocator {
 public:
  constexpr any_allocator() noexcept = default;

  template <class Allocator>
  explicit any_allocator(const Allocator& target) {
    if constexpr (fits<Allocator>) {
      ::new (static_cast<void*>(storage_)) Allocator(target);
      table_ = &in_place_table<Allocator>;
    } else {
      using holder = counted<Allocator>;
      operation_owner<holder, Allocator> owner(std::in_place, target, target);
      holder* h = owner.release();
      ::new (static_cast<void*>(storage_)) holder*(h);
      table_ = &shared_table<Allocator>;
    }
  }

  any_allocator(const any_allocator& other) noexcept : table_(other.table_) {
    std::memcpy(storage_, other.storage_, sizeof(storage_));
    if (table_ && table_->acquire)
      table_->acquire(storage_);
  }
  any_allocator& operator=(const any_allocator& other) noexcept {
    any_allocator copy(other);
    std::swap(table_, copy.table_);
    unsigned char bytes[sizeof(storage_)];
    std::memcpy(bytes, storage_, sizeof(storage_));
    std::memcpy(storage_, copy.storage_, sizeof(storage_));
    std::memcpy(copy.storage_, bytes, sizeof(storage_));
    return *this;
  }
  ~any_allocator() {
    if (table_ && table_->release)
      table_->release(storage_);
  }

  void* allocate(std::size_t size, std::size_t alignment) const {
    return table_->allocate(storage_, size, alignment);
  }
  void deallocate(void* p, std::size_t size, std::size_t alignment) const noexcept {
    table_->deallocate(storage_, p, size, alignment);
  }

  friend bool operator==(const any_allocator& a, const any_allocator& b) noexcept {
    return a.table_ == b.table_ && (!a.table_ || a.table_->equal(a.storage_, b.storage_));
  }

 private:
  static constexpr std::size_t capacity = 2 * sizeof(void*);

  struct operations {
    void* (*allocate)(const void*, std::size_t size, std::size_t alignment);
    void (*deallocate)(const void*, void*, std::size_t size, std::size_t alignment) noexcept;
    bool (*equal)(const void*, const void*) noexcept;
    void (*acquire)(const void*) noexcept;
    void (*release)(const void*) noexcept;
  };

  template <class Allocator>
  static constexpr bool fits =
      sizeof(Allocator) <= capacity && alignof(Allocator) <= alignof(void*) &&
      std::is_trivially_copyable_v<Allocator>;

  // Blocks are asked for in units, so that one rebound allocator serves all sizes.
  static constexpr std::size_t default_alignment = alignof(std::max_align_t);
  static constexpr std::size_t largest_alignment = 64;
  template <std::size_t Alignment>
  struct unit {
    alignas(Alignment) unsigned char bytes[Alignment];
  };

  template <class Allocator, std::size_t Alignment>
  struct blocks {
    using type = typename rebind_operation_allocator<Allocator, unit<Alignment>>::type;
    using traits = std::allocator_traits<type>;

    static type make(const Allocator& a) {
      if constexpr (std::is_constructible_v<type, const Allocator&>)
        return type(a);
      else
        return type();
    }
    static std::size_t count(std::size_t size) noexcept {
      return (size + Alignment - 1) / Alignment;
    }
    static void* allocate(const Allocator& a, std::size_t size) {
      type allocator(make(a));
      return std::to_address(traits::allocate(allocator, count(size)));
    }
    static void deallocate(const Allocator& a, void* p, std::size_t size) noexcept {
      type allocator(make(a));
      auto* units = static_cast<unit<Alignment>*>(p);
      if constexpr (std::is_pointer_v<typename traits::pointer>)
        traits::deallocate(allocator, units, count(size));
      else
        traits::deallocate(allocator,
                           std::pointer_traits<typename traits::pointer>::pointer_to(*units),
                           count(size));
    }
  };

  template <class Allocator>
  static void* allocate_with(const Allocator& a, std::size_t size, std::size_t alignment) {
    if (alignment <= default_alignment)
      return blocks<Allocator, default_alignment>::allocate(a, size);
    if (alignment <= largest_alignment)
      return blocks<Allocator, largest_alignment>::allocate(a, size);
    throw std::bad_alloc();
  }
  template <class Allocator>
  static void deallocate_with(const Allocator& a, void* p, std::size_t size,
                              std::size_t alignment) noexcept {
    if (alignment <= default_alignment)
      blocks<Allocator, default_alignment>::deallocate(a, p, size);
    else
      blocks<Allocator, largest_alignment>::deallocate(a, p, size);
  }

  template <class Allocator>
  struct in_place {
    static const Allocator& get(const void* storage) noexcept {
      return *std::launder(static_cast<const Allocator*>(storage));
    }
  };

  template <class Allocator>
  struct counted {
    explicit counted(const Allocator& a) : allocator(a) {}
    Allocator allocator;
    reference_count references;
  };
  template <class Allocator>
  struct shared {
    static counted<Allocator>* holder(const void* storage) noexcept {
      return *std::launder(static_cast<counted<Allocator>* const*>(storage));
    }
    static const Allocator& get(const void* storage) noexcept { return holder(storage)->allocator; }
    static void acquire(const void* storage) noexcept { holder(storage)->references.add(); }
    static void release(const void* storage) noexcept {
      counted<Allocator>* h = holder(storage);
      if (h->references.drop()) {
        const Allocator allocator(h->allocator);
        operation_owner<counted<Allocator>, Allocator> owner(h, allocator);
      }
    }
  };

  template <class Allocator, class Access>
  static void* allocate_through(const void* storage, std::size_t size, std::size_t alignment) {
    return allocate_with(Access::get(storage), size, alignment);
  }
  template <class Allocator, class Access>
  static void deallocate_through(const void* storage, void* p, std::size_t size,
                                 std::size_t alignment) noexcept {
    deallocate_with(Access::get(storage), p, size, alignment);
  }
  template <class Allocator, class Access>
  static bool equal_through(const void* a, const void* b) noexcept {
    return Access::get(a) == Access::get(b);
  }

  template <class Allocator>
  static constexpr operations in_place_table{&allocate_through<Allocator, in_place<Allocator>>,
                                             &deallocate_through<Allocator, in_place<Allocator>>,
                                             &equal_through<Allocator, in_place<Allocator>>,
                                             nullptr, nullptr};
  template <class Allocator>
  static constexpr operations shared_table{&allocate_through<Allocator, shared<Allocator>>,
                                           &deallocate_through<Allocator, shared<Allocator>>,
                                           &equal_through<Allocator, shared<Allocator>>,
                                           &shared<Allocator>::acquire,
                                           &shared<Allocator>::release};

  const operations* table_ = nullptr;
  alignas(void*) unsigned char storage_[capacity] = {};
};

}  // namespace detail

/// The allocator associated with an any_completion_handler: memory comes from the allocator of the
/// handler inside. It stays valid when the handler is gone. Types aligned to at most 64 bytes.
template <class T, class... Signatures>
class any_completion_handler_allocator {
 public:
  using value_type = T;

  template <class U>
  struct rebind {
    using other = any_completion_handler_allocator<U, Signatures...>;
  };

  template <class U>
  any_completion_handler_allocator(
      const any_completion_handler_allocator<U, Signatures...>& other) noexcept
      : target_(other.target_) {}

  T* allocate(std::size_t n) const
    requires(!std::is_void_v<T>)
  {
    return static_cast<T*>(target_.allocate(n * sizeof(T), alignof(T)));
  }
  template <class U = T>
    requires(!std::is_void_v<U>)
  void deallocate(U* p, std::size_t n) const noexcept {
    target_.deallocate(p, n * sizeof(U), alignof(U));
  }

  friend bool operator==(const any_completion_handler_allocator& a,
                         const any_completion_handler_allocator& b) noexcept {
    return a.target_ == b.target_;
  }

 private:
  template <class, class...>
  friend class any_completion_handler_allocator;
  friend class any_completion_handler<Signatures...>;

  explicit any_completion_handler_allocator(detail::any_allocator target) noexcept
      : target_(target) {}

  detail::any_allocator target_;
};

}  // namespace WEFT_NAMESPACE
