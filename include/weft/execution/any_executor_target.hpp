// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <weft/base/config.hpp>
#include <weft/base/function_operation.hpp>
#include <weft/base/reference_count.hpp>
#include <weft/base/thread_memory.hpp>
#include <weft/execution/function_view.hpp>
#include <weft/execution/properties.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE {

namespace execution {

/// Thrown when an empty any_executor is used.
class WEFT_API bad_executor : public std::exception {
 public:
  const char* what() const noexcept override;
};

}  // namespace execution

namespace detail {

class any_executor_base;
[[noreturn]] WEFT_API void throw_bad_executor();

/// What is known of a target's type; the address identifies it within a linked image.
struct target_identity {
  const std::type_info* info;
  bool (*equal)(const void*, const void*);
};
template <class T>
bool equal_targets(const void* a, const void* b) {
  return static_cast<bool>(*static_cast<const T*>(a) == *static_cast<const T*>(b));
}
template <class T>
WEFT_API inline constexpr target_identity target_identity_of{&typeid(T), &equal_targets<T>};

/// How to handle the storage of one type of target. Where a function is null, the bytes are
/// copied, or nothing is done.
struct target_operations {
  const target_identity* identity;
  /// The target is a wrapper of another kind: this leads to it.
  const any_executor_base* (*inner)(const void* target);
  bool in_place;
  void (*copy)(void* to, const void* from) noexcept;
  void (*relocate)(void* to, void* from) noexcept;
  void (*destroy)(void* storage) noexcept;
  /// One of the two is null: `call` is for targets that always run functions inline.
  void (*execute)(const void* target, operation_function&& f);
  void (*call)(const void* target, function_view f);
};

/// A target too large to be stored in place. It is never changed, so copies share it.
template <class T>
struct shared_target {
  reference_count references;
  T value;
};

template <class T>
inline constexpr bool stored_in_place =
    sizeof(T) <= 3 * sizeof(void*) && alignof(T) <= alignof(void*) &&
    std::is_nothrow_move_constructible_v<T>;

/// Whether a copy of the bytes is a copy of the target, and nothing need be done at its end.
template <class T>
inline constexpr bool is_mere_bytes =
    std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>;

template <class T>
struct target_storage {
  static constexpr bool bytes = is_mere_bytes<T>;

  static void copy(void* to, const void* from) noexcept {
    ::new (to) T(*static_cast<const T*>(from));
  }
  static void relocate(void* to, void* from) noexcept {
    ::new (to) T(std::move(*static_cast<T*>(from)));
    static_cast<T*>(from)->~T();
  }
  static void destroy(void* storage) noexcept { static_cast<T*>(storage)->~T(); }
  static void emplace(void* storage, T&& value) noexcept { ::new (storage) T(std::move(value)); }
};

template <class T>
  requires(!stored_in_place<T>)
struct target_storage<T> {
  /// The storage holds a pointer to the value, by which it is found without knowing its type, and
  /// one to its block.
  struct pointers {
    void* value;
    shared_target<T>* block;
  };
  static constexpr bool bytes = false;

  static void copy(void* to, const void* from) noexcept {
    std::memcpy(to, from, sizeof(pointers));
    static_cast<pointers*>(to)->block->references.add();
  }
  static void destroy(void* storage) noexcept {
    shared_target<T>* block = static_cast<pointers*>(storage)->block;
    if (block->references.drop()) {
      block->~shared_target();
      thread_memory::deallocate(block, sizeof(shared_target<T>), alignof(shared_target<T>));
    }
  }
  static void emplace(void* storage, T&& value) {
    void* p = thread_memory::allocate(sizeof(shared_target<T>), alignof(shared_target<T>));
    try {
      auto* block = ::new (p) shared_target<T>{{}, std::move(value)};
      ::new (storage) pointers{&block->value, block};
    } catch (...) {
      thread_memory::deallocate(p, sizeof(shared_target<T>), alignof(shared_target<T>));
      throw;
    }
  }
};

/// The part of any_executor that does not depend on its properties.
class any_executor_base : public any_executor_tag {
 public:
  /// Whether there is a target.
  explicit operator bool() const noexcept { return operations_ != nullptr; }

  /// The target's type, or typeid(void).
  const std::type_info& target_type() const noexcept {
    return operations_ ? *resolve().operations_->identity->info : typeid(void);
  }

  /// The target, if its type is `Executor`; else null. One comparison of pointers when it is.
  template <class Executor>
  Executor* target() noexcept {
    return const_cast<Executor*>(std::as_const(*this).template target<Executor>());
  }
  template <class Executor>
  const Executor* target() const noexcept {
    if (const Executor* native = native_target<Executor>())
      return native;
    if (!operations_)
      return nullptr;
    const any_executor_base& holder = resolve();
    return *holder.operations_->identity->info == typeid(Executor)
               ? static_cast<const Executor*>(holder.address())
               : nullptr;
  }

  /// As target, at the cost of one comparison of pointers in any case; it misses a target that
  /// another shared library wrapped, or another kind of wrapper.
  template <class Executor>
  const Executor* native_target() const noexcept {
    return operations_ && operations_->identity == &target_identity_of<Executor>
               ? static_cast<const Executor*>(address())
               : nullptr;
  }

  /// Runs `f` as the target does. The memory for it is recycled per thread. Throws bad_executor
  /// if there is no target, or what the target throws.
  template <class Function>
  void execute(Function&& f) const {
    execute(std::forward<Function>(f), std::allocator<void>());
  }

  /// As above, with memory of the allocator.
  template <class Function, class Allocator>
  void execute(Function&& f, const Allocator& allocator) const {
    const void* target = checked_address();
    if (operations_->call) {
      std::decay_t<Function> function(std::forward<Function>(f));
      operations_->call(target, function_view::of(function));
    } else {
      operations_->execute(target, operation_function(make_function_operation(
                                       std::forward<Function>(f), allocator)));
    }
  }

  /// Whether both have targets that are equal, or neither has one.
  static bool equal(const any_executor_base& a, const any_executor_base& b) noexcept {
    if (!a.operations_ || !b.operations_)
      return a.operations_ == b.operations_;
    const any_executor_base& x = a.resolve();
    const any_executor_base& y = b.resolve();
    const target_identity* identity = x.operations_->identity;
    return (identity == y.operations_->identity ||
            *identity->info == *y.operations_->identity->info) &&
           identity->equal(x.address(), y.address());
  }

 protected:
  any_executor_base() noexcept = default;
  any_executor_base(const any_executor_base& other) noexcept { copy_from(other); }
  any_executor_base(any_executor_base&& other) noexcept { take(other); }
  any_executor_base& operator=(const any_executor_base& other) noexcept {
    any_executor_base copy(other);
    swap_target(copy);
    return *this;
  }
  any_executor_base& operator=(any_executor_base&& other) noexcept {
    any_executor_base taken(std::move(other));
    swap_target(taken);
    return *this;
  }
  ~any_executor_base() { clear(); }

  /// Precondition: no target yet.
  template <class T>
  void emplace(const target_operations& operations, T value) {
    target_storage<T>::emplace(storage_, std::move(value));
    operations_ = &operations;
  }

  void clear() noexcept {
    if (operations_ && operations_->destroy)
      operations_->destroy(storage_);
    operations_ = nullptr;
  }

  void swap_target(any_executor_base& other) noexcept {
    any_executor_base taken;
    taken.take(other);
    other.take(*this);
    take(taken);
  }

  const target_operations* operations() const noexcept { return operations_; }

  const void* checked_address() const {
    if (!operations_)
      throw_bad_executor();
    return address();
  }

 private:
  const void* address() const noexcept {
    return operations_->in_place ? static_cast<const void*>(storage_)
                                 : *reinterpret_cast<void* const*>(storage_);
  }

  /// The innermost wrapper, which holds the target proper. Precondition: there is a target.
  const any_executor_base& resolve() const noexcept {
    const any_executor_base* holder = this;
    while (holder->operations_->inner)
      holder = holder->operations_->inner(holder->address());
    return *holder;
  }

  void copy_from(const any_executor_base& other) noexcept {
    operations_ = other.operations_;
    if (!operations_)
      return;
    if (operations_->copy)
      operations_->copy(storage_, other.storage_);
    else
      std::memcpy(storage_, other.storage_, sizeof(storage_));
  }

  void take(any_executor_base& other) noexcept {
    operations_ = std::exchange(other.operations_, nullptr);
    if (!operations_)
      return;
    if (operations_->relocate)
      operations_->relocate(storage_, other.storage_);
    else
      std::memcpy(storage_, other.storage_, sizeof(storage_));
  }

  alignas(void*) std::byte storage_[3 * sizeof(void*)] = {};
  const target_operations* operations_ = nullptr;
};

template <class T>
inline constexpr bool is_wrapper = std::is_base_of_v<any_executor_base, T>;

template <class T>
constexpr target_operations make_target_operations() {
  using storage = target_storage<T>;
  target_operations result{};
  if constexpr (is_wrapper<T>)
    result.inner = [](const void* p) -> const any_executor_base* {
      return static_cast<const T*>(p);
    };
  else
    result.identity = &target_identity_of<T>;
  result.in_place = stored_in_place<T>;
  if constexpr (!storage::bytes) {
    result.copy = &storage::copy;
    result.destroy = &storage::destroy;
    if constexpr (stored_in_place<T>)
      result.relocate = &storage::relocate;
  }
  if constexpr (property_call::held<T, execution::blocking_t::always_t>)
    result.call = [](const void* p, function_view f) { static_cast<const T*>(p)->execute(f); };
  else
    result.execute = [](const void* p, operation_function&& f) {
      static_cast<const T*>(p)->execute(std::move(f));
    };
  return result;
}

}  // namespace detail
}  // namespace WEFT_NAMESPACE
