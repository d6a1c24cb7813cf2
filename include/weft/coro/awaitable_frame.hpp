// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <cstddef>
#include <new>
#include <source_location>
#include <utility>

#include <weft/base/thread_memory.hpp>

namespace WEFT_NAMESPACE::detail {

/// What the promises of all coroutines of a logical thread begin with: the chain of callers, and
/// where each waits.
class awaitable_frame {
 public:
  /// The part of a co_await that owns the coroutine which it calls.
  class call {
   public:
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   protected:
    explicit call(std::coroutine_handle<> callee) noexcept : callee_(callee) {}
    ~call() {
      if (callee_)
        callee_.destroy();
    }

    std::coroutine_handle<> callee_;

   private:
    friend class awaitable_frame;
  };

  awaitable_frame(const awaitable_frame&) = delete;
  awaitable_frame& operator=(const awaitable_frame&) = delete;

  const awaitable_frame* caller() const noexcept { return caller_; }
  /// Of the co_await that it is in; an empty one if it has not come to one.
  const std::source_location& where() const noexcept { return where_; }

  /// Destroys this coroutine and its callers but the outermost, one after the other.
  static void destroy_callees(awaitable_frame& innermost) noexcept {
    for (awaitable_frame* frame = &innermost; frame->caller_;) {
      awaitable_frame* const caller = frame->caller_;
      std::exchange(frame->call_->callee_, nullptr).destroy();
      frame = caller;
    }
  }

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

  // Null for the outermost.
  awaitable_frame* caller_ = nullptr;
  std::coroutine_handle<> caller_handle_;
  call* call_ = nullptr;
  std::source_location where_;
};

}  // namespace WEFT_NAMESPACE::detail
