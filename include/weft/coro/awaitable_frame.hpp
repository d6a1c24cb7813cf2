// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <cstddef>
#include <new>
#include <source_location>

#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// What the promises of all coroutines of a logical thread begin with: the chain of callers, and
/// where each waits.
class awaitable_frame {
 public:
  awaitable_frame(const awaitable_frame&) = delete;
  awaitable_frame& operator=(const awaitable_frame&) = delete;

  const awaitable_frame* caller() const noexcept { return caller_; }
  /// Of the co_await that it is in; an empty one if it has not come to one.
  const std::source_location& where() const noexcept { return where_; }

  // Frames are recycled as the memory of operations is.
  static void* operator new(std::size_t size) {
    return thread_memory::allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void operator delete(void* frame, std::size_t size) noexcept {
    thread_memory::deallocate(frame, size, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }

 protected:
  awaitable_frame() noexcept = default;
  ~awaitable_frame() = default;

  awaitable_frame* caller_ = nullptr;
  std::coroutine_handle<> caller_handle_;
  std::source_location where_;
};

}  // namespace WEFT_NAMESPACE::detail
