// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <weft/base/operation_memory.hpp>
#include <weft/base/thread_memory.hpp>

// Where the frames of weft's coroutines live.
namespace WEFT_NAMESPACE::detail {

/// Has the frames of coroutines with this promise recycled, as the memory of operations is.
struct recycled_frame {
  static void* operator new(std::size_t size) {
    return thread_memory::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void operator delete(void* frame, std::size_t size) noexcept {
    thread_memory::deallocate(frame, size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
};

/// The memory of frames from an allocator, which is kept behind the frame.
template <class Allocator>
class allocated_frame {
  struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) unit {
    std::byte bytes[__STDCPP_DEFAULT_NEW_ALIGNMENT__];
  };
  using allocator_type = typename rebind_operation_allocator<Allocator, unit>::type;
  using traits = std::allocator_traits<allocator_type>;
  static_assert(alignof(allocator_type) <= alignof(unit));

  static std::size_t units(std::size_t size) noexcept {
    return (size + sizeof(unit) - 1) / sizeof(unit);
  }

 public:
  static void* allocate(std::size_t size, const Allocator& allocator) {
    auto own = make_operation_allocator<unit>(allocator);
    const std::size_t frame = units(size);
    unit* const memory =
        std::to_address(traits::allocate(own, frame + units(sizeof(allocator_type))));
    ::new (static_cast<void*>(memory + frame)) allocator_type(std::move(own));
    return memory;
  }
  static void deallocate(void* memory, std::size_t size) noexcept {
    auto* const first = static_cast<unit*>(memory);
    const std::size_t frame = units(size);
    auto* const kept = std::launder(reinterpret_cast<allocator_type*>(first + frame));
    allocator_type own(std::move(*kept));
    kept->~allocator_type();
    traits::deallocate(own, std::pointer_traits<typename traits::pointer>::pointer_to(*first),
                       frame + units(sizeof(allocator_type)));
  }
};

/// The promise of a coroutine that brings an allocator: the same, with the frame's memory from
/// there. It adds no member, so a handle of `Promise` leads to the same frame.
template <class Promise, class Allocator>
class allocating_promise : public Promise {
  static void* allocate(std::size_t size, const Allocator& allocator) {
    static_assert(sizeof(allocating_promise) == sizeof(Promise) &&
                  alignof(allocating_promise) == alignof(Promise));
    return allocated_frame<Allocator>::allocate(size, allocator);
  }

 public:
  static void* operator new(std::size_t size)
    requires std::default_initializable<Allocator>
  {
    return allocate(size, Allocator());
  }
  template <std::convertible_to<const Allocator&> A, class... Args>
  static void* operator new(std::size_t size, std::allocator_arg_t, const A& allocator,
                            const Args&...) {
    return allocate(size, allocator);
  }
  template <class Object, std::convertible_to<const Allocator&> A, class... Args>
  static void* operator new(std::size_t size, const Object&, std::allocator_arg_t,
                            const A& allocator, const Args&...) {
    return allocate(size, allocator);
  }
  static void operator delete(void* frame, std::size_t size) noexcept {
    allocated_frame<Allocator>::deallocate(frame, size);
  }
};

/// The return type of coroutines whose frames are recycled unless they bring an allocator.
template <class Result>
concept recycling_coroutine = requires { typename Result::promise_type; } &&
                              std::derived_from<typename Result::promise_type, recycled_frame>;

}  // namespace WEFT_NAMESPACE::detail

template <WEFT_NAMESPACE::detail::recycling_coroutine Result, class Allocator, class... Args>
struct std::coroutine_traits<Result, std::allocator_arg_t, Allocator, Args...> {
  using promise_type = WEFT_NAMESPACE::detail::allocating_promise<typename Result::promise_type,
                                                                  std::remove_cvref_t<Allocator>>;
};
template <WEFT_NAMESPACE::detail::recycling_coroutine Result, class Object, class Allocator,
          class... Args>
struct std::coroutine_traits<Result, Object, std::allocator_arg_t, Allocator, Args...> {
  using promise_type = WEFT_NAMESPACE::detail::allocating_promise<typename Result::promise_type,
                                                                  std::remove_cvref_t<Allocator>>;
};
