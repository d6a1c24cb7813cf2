// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <weft/base/operation_memory.hpp>
#include <weft/base/sharing_policy.hpp>
#include <weft/base/strong_count.hpp>

namespace WEFT_NAMESPACE {

template <class T, class Policy>
class strong_ptr;
template <class T, class Policy>
class weak_ptr;
template <class T, class Policy>
class enable_shared_from_this;

namespace detail {

/// What all pointers to an object share: the counts, and how the object and this block end.
template <class Policy>
class strong_block {
 public:
  strong_block(const strong_block&) = delete;
  strong_block& operator=(const strong_block&) = delete;

  strong_count_t<Policy> count;

  void drop() noexcept {
    if (count.drop()) {
      end_(this, part::object);
      drop_weak();
    }
  }
  void drop_weak() noexcept {
    if (count.drop_weak())
      end_(this, part::block);
  }

 protected:
  enum class part : unsigned char { object, block };
  using end_function = void (*)(strong_block*, part) noexcept;

  explicit strong_block(end_function end) noexcept : end_(end) {}
  ~strong_block() = default;

 private:
  const end_function end_;
};

/// The object is in the block: it may be a std::unique_ptr, which owns what it is all about.
template <class T, class Policy, class Allocator>
class strong_object final : public strong_block<Policy> {
  using base = strong_block<Policy>;
  using memory = operation_owner<strong_object, Allocator>;

 public:
  template <class... Args>
  explicit strong_object(const Allocator& allocator, Args&&... args)
      : base(&end), allocator_(allocator) {
    ::new (static_cast<void*>(std::addressof(object_))) T(std::forward<Args>(args)...);
  }
  ~strong_object() {}

  template <class... Args>
  static strong_object* create(const Allocator& allocator, Args&&... args) {
    return memory(std::in_place, allocator, allocator, std::forward<Args>(args)...).release();
  }

  T* object() noexcept { return std::addressof(object_); }

 private:
  static void end(base* block, typename base::part what) noexcept {
    auto* const self = static_cast<strong_object*>(block);
    if (what == base::part::object) {
      std::destroy_at(self->object());
    } else {
      const Allocator allocator(self->allocator_);
      memory(self, allocator).reset();
    }
  }

  [[no_unique_address]] Allocator allocator_;
  union {
    std::remove_const_t<T> object_;
  };
};

struct strong_access {
  /// Takes over a reference.
  template <class T, class Policy>
  static strong_ptr<T, Policy> adopt(T* object, strong_block<Policy>* block) noexcept {
    return strong_ptr<T, Policy>(object, block);
  }
  template <class T, class Policy>
  static strong_ptr<T, Policy> adopt_new(T* object, strong_block<Policy>* block) noexcept {
    strong_ptr<T, Policy> made(object, block);
    tell(object, made);
    return made;
  }

  /// Lets an object that wants it know who owns it.
  template <class T, class Y, class Policy>
  static void tell(const enable_shared_from_this<T, Policy>* self,
                   const strong_ptr<Y, Policy>& owner) noexcept {
    if (self && self->weak_this_.expired())
      self->weak_this_ = strong_ptr<T, Policy>(owner, const_cast<T*>(static_cast<const T*>(self)));
  }
  template <class Y, class Policy>
  static void tell(const volatile void*, const strong_ptr<Y, Policy>&) noexcept {}
};

}  // namespace detail

/// A pointer that shares the ownership of an object; the last one ends it. As std::shared_ptr,
/// whose members it has (but for arrays), with two differences:
///   - `Policy` says how references are counted: sharing::concurrent, or sharing::local for what
///     never leaves a thread, without atomic operations. Pointers of different policies do not
///     convert into each other.
///   - The block with the counts is of memory that is recycled per thread, unless allocate_strong
///     was given another allocator.
///
///     auto session = make_strong<connection, sharing::local>(std::move(socket));
///
/// Thread safety: as that of the policy, and different pointers to one object only. A pointer takes
/// two words; the counts and one function pointer stand before the object. O(1) all.
template <class T, class Policy = sharing::concurrent>
class strong_ptr {
  template <class Y>
  static constexpr bool from = std::is_convertible_v<Y*, T*>;

 public:
  using element_type = T;
  using weak_type = weak_ptr<T, Policy>;
  using policy_type = Policy;

  constexpr strong_ptr() noexcept = default;
  constexpr strong_ptr(std::nullptr_t) noexcept {}

  /// Owns `*object`, which `delete` ends; also if this throws, for want of memory.
  template <class Y>
    requires from<Y>
  explicit strong_ptr(Y* object) : strong_ptr(std::unique_ptr<Y>(object)) {}
  /// The same with a deleter, called as `end(object)`.
  template <class Y, class Deleter>
    requires from<Y>
  strong_ptr(Y* object, Deleter end)
      : strong_ptr(std::unique_ptr<Y, Deleter>(object, std::move(end))) {}
  /// Throws std::bad_alloc; `object` still owns then.
  template <class Y, class Deleter>
    requires from<std::remove_pointer_t<typename std::unique_ptr<Y, Deleter>::pointer>>
  strong_ptr(std::unique_ptr<Y, Deleter>&& object) {
    if (!object)
      return;
    const auto pointer = object.get();
    object_ = pointer;
    using owner = detail::strong_object<std::unique_ptr<Y, Deleter>, Policy, std::allocator<void>>;
    block_ = owner::create(std::allocator<void>(), std::move(object));
    detail::strong_access::tell(pointer, *this);
  }

  /// Shares what `owner` owns, and points to `object`, which is to live as long.
  template <class Y>
  strong_ptr(const strong_ptr<Y, Policy>& owner, T* object) noexcept
      : object_(object), block_(owner.block_) {
    if (block_)
      block_->count.add();
  }
  template <class Y>
  strong_ptr(strong_ptr<Y, Policy>&& owner, T* object) noexcept
      : object_(object), block_(std::exchange(owner.block_, nullptr)) {
    owner.object_ = nullptr;
  }

  strong_ptr(const strong_ptr& other) noexcept : strong_ptr(other, other.object_) {}
  strong_ptr(strong_ptr&& other) noexcept : strong_ptr(std::move(other), other.object_) {}
  template <class Y>
    requires from<Y>
  strong_ptr(const strong_ptr<Y, Policy>& other) noexcept : strong_ptr(other, other.get()) {}
  template <class Y>
    requires from<Y>
  strong_ptr(strong_ptr<Y, Policy>&& other) noexcept : strong_ptr(std::move(other), other.get()) {}

  /// Throws std::bad_weak_ptr if the object has ended.
  template <class Y>
    requires from<Y>
  explicit strong_ptr(const weak_ptr<Y, Policy>& other) : strong_ptr(other.lock()) {
    if (!block_)
      throw std::bad_weak_ptr();
  }

  strong_ptr& operator=(strong_ptr other) noexcept {
    swap(other);
    return *this;
  }
  ~strong_ptr() {
    if (block_)
      block_->drop();
  }

  void swap(strong_ptr& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(block_, other.block_);
  }
  void reset() noexcept { strong_ptr().swap(*this); }
  template <class... Args>
    requires std::is_constructible_v<strong_ptr, Args...>
  void reset(Args&&... args) {
    strong_ptr(std::forward<Args>(args)...).swap(*this);
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept {
    assert(object_ && "a strong_ptr that points to nothing is followed");
    return object_;
  }
  std::add_lvalue_reference_t<T> operator*() const noexcept {
    assert(object_ && "a strong_ptr that points to nothing is followed");
    return *object_;
  }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// How many share the ownership; a guess if other threads do.
  long use_count() const noexcept { return block_ ? static_cast<long>(block_->count.strong()) : 0; }

  /// An order by what is owned, not by what is pointed to.
  template <class Pointer>
  bool owner_before(const Pointer& other) const noexcept {
    return std::less<>()(block_, other.block_);
  }

  template <class Y>
  friend bool operator==(const strong_ptr& a, const strong_ptr<Y, Policy>& b) noexcept {
    return a.get() == b.get();
  }
  template <class Y>
  friend std::strong_ordering operator<=>(const strong_ptr& a,
                                          const strong_ptr<Y, Policy>& b) noexcept {
    return std::compare_three_way()(a.get(), b.get());
  }
  friend bool operator==(const strong_ptr& a, std::nullptr_t) noexcept { return !a; }

 private:
  template <class, class>
  friend class strong_ptr;
  template <class, class>
  friend class weak_ptr;
  friend detail::strong_access;

  strong_ptr(T* object, detail::strong_block<Policy>* block) noexcept
      : object_(object), block_(block) {}

  T* object_ = nullptr;
  detail::strong_block<Policy>* block_ = nullptr;
};

/// A pointer that does not keep its object: `lock` gives one that does, while the object lives. As
/// std::weak_ptr. An object that make_strong has made keeps its memory as long as one of these is
/// left.
template <class T, class Policy = sharing::concurrent>
class weak_ptr {
  template <class Y>
  static constexpr bool from = std::is_convertible_v<Y*, T*>;

 public:
  using element_type = T;
  using policy_type = Policy;

  constexpr weak_ptr() noexcept = default;
  weak_ptr(const weak_ptr& other) noexcept : weak_ptr(other.object_, other.block_) {}
  weak_ptr(weak_ptr&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        block_(std::exchange(other.block_, nullptr)) {}
  template <class Y>
    requires from<Y>
  weak_ptr(const strong_ptr<Y, Policy>& other) noexcept : weak_ptr(other.object_, other.block_) {}
  /// The object may have ended, and conversion to a virtual base look into it: so it is locked.
  template <class Y>
    requires from<Y> && (!std::is_same_v<Y, T>)
  weak_ptr(const weak_ptr<Y, Policy>& other) noexcept
      : weak_ptr(other.lock().get(), other.block_) {}

  weak_ptr& operator=(weak_ptr other) noexcept {
    swap(other);
    return *this;
  }
  ~weak_ptr() {
    if (block_)
      block_->drop_weak();
  }

  void swap(weak_ptr& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(block_, other.block_);
  }
  void reset() noexcept { weak_ptr().swap(*this); }

  /// A pointer that owns the object, or an empty one if that has ended.
  strong_ptr<T, Policy> lock() const noexcept {
    return block_ && block_->count.add_unless_ended()
               ? detail::strong_access::adopt(object_, block_)
               : strong_ptr<T, Policy>();
  }
  bool expired() const noexcept { return use_count() == 0; }
  long use_count() const noexcept { return block_ ? static_cast<long>(block_->count.strong()) : 0; }

  template <class Pointer>
  bool owner_before(const Pointer& other) const noexcept {
    return std::less<>()(block_, other.block_);
  }

 private:
  template <class, class>
  friend class strong_ptr;
  template <class, class>
  friend class weak_ptr;

  weak_ptr(T* object, detail::strong_block<Policy>* block) noexcept
      : object_(object), block_(block) {
    if (block_)
      block_->count.add_weak();
  }

  T* object_ = nullptr;
  detail::strong_block<Policy>* block_ = nullptr;
};

/// A base for objects that make pointers to themselves: `class session : public
/// enable_shared_from_this<session>`. The object must be owned by a strong_ptr of this policy.
template <class T, class Policy = sharing::concurrent>
class enable_shared_from_this {
 public:
  /// Throws std::bad_weak_ptr if nothing owns the object.
  strong_ptr<T, Policy> shared_from_this() { return strong_ptr<T, Policy>(weak_this_); }
  strong_ptr<const T, Policy> shared_from_this() const { return strong_ptr<T, Policy>(weak_this_); }
  weak_ptr<T, Policy> weak_from_this() noexcept { return weak_this_; }
  weak_ptr<const T, Policy> weak_from_this() const noexcept { return weak_this_; }

 protected:
  enable_shared_from_this() noexcept = default;
  enable_shared_from_this(const enable_shared_from_this&) noexcept {}
  enable_shared_from_this& operator=(const enable_shared_from_this&) noexcept { return *this; }
  ~enable_shared_from_this() = default;

 private:
  friend detail::strong_access;

  mutable weak_ptr<T, Policy> weak_this_;
};

/// Makes an object, and the counts with it, in one block from `allocator`. Throws what the
/// allocator or the constructor throws.
template <class T, class Policy = sharing::concurrent, class Allocator, class... Args>
strong_ptr<T, Policy> allocate_strong(const Allocator& allocator, Args&&... args) {
  auto* const block =
      detail::strong_object<T, Policy, Allocator>::create(allocator, std::forward<Args>(args)...);
  return detail::strong_access::adopt_new<T, Policy>(block->object(), block);
}

/// The same in memory that is recycled per thread.
template <class T, class Policy = sharing::concurrent, class... Args>
strong_ptr<T, Policy> make_strong(Args&&... args) {
  return allocate_strong<T, Policy>(std::allocator<void>(), std::forward<Args>(args)...);
}

template <class T, class U, class Policy>
strong_ptr<T, Policy> static_pointer_cast(strong_ptr<U, Policy> p) noexcept {
  T* const object = static_cast<T*>(p.get());
  return strong_ptr<T, Policy>(std::move(p), object);
}
/// Empty if the object is no T.
template <class T, class U, class Policy>
strong_ptr<T, Policy> dynamic_pointer_cast(strong_ptr<U, Policy> p) noexcept {
  T* const object = dynamic_cast<T*>(p.get());
  return object ? strong_ptr<T, Policy>(std::move(p), object) : strong_ptr<T, Policy>();
}
template <class T, class U, class Policy>
strong_ptr<T, Policy> const_pointer_cast(strong_ptr<U, Policy> p) noexcept {
  T* const object = const_cast<T*>(p.get());
  return strong_ptr<T, Policy>(std::move(p), object);
}
template <class T, class U, class Policy>
strong_ptr<T, Policy> reinterpret_pointer_cast(strong_ptr<U, Policy> p) noexcept {
  T* const object = reinterpret_cast<T*>(p.get());
  return strong_ptr<T, Policy>(std::move(p), object);
}

}  // namespace WEFT_NAMESPACE

template <class T, class Policy>
struct std::hash<WEFT_NAMESPACE::strong_ptr<T, Policy>> {
  std::size_t operator()(const WEFT_NAMESPACE::strong_ptr<T, Policy>& p) const noexcept {
    return std::hash<T*>()(p.get());
  }
};
