// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <source_location>
#include <utility>

#include <weft/coro/frame_memory.hpp>

namespace WEFT_NAMESPACE::detail {

class logical_thread_base;

/// What the promises of all coroutines of a logical thread begin with: the chain of callers, and
/// where each waits. What is said of a caller is set by `call_from`, before the coroutine runs.
///
/// It is the first base of a promise, at its very address, so that a frame leads to its coroutine.
class awaitable_frame : public recycled_frame {
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

  /// Null for the outermost.
  const awaitable_frame* caller() const noexcept { return caller_; }
  /// Of the co_await that it is in; an empty one if it has not come to one.
  const std::source_location& where() const noexcept { return where_; }

  std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<awaitable_frame>::from_promise(*this);
  }

  /// Has the coroutine, which is about to be resumed, called by the co_await `by` of another one.
  void call_from(awaitable_frame& caller, call& by) noexcept {
    thread_ = caller.thread_;
    caller_ = &caller;
    call_ = &by;
  }
  /// Has it called by nobody: its logical thread ends with it.
  void call_from(logical_thread_base& thread) noexcept {
    thread_ = &thread;
    caller_ = nullptr;
  }
  /// Has it called by a coroutine that is none of weft's: it is in no logical thread.
  void call_from(std::coroutine_handle<> foreign) noexcept {
    thread_ = nullptr;
    caller_ = nullptr;
    foreign_ = foreign.address();
  }

  /// Destroys this coroutine and its callers but the outermost, one after the other.
  static void destroy_callees(awaitable_frame& innermost) noexcept {
    for (awaitable_frame* frame = &innermost; frame->caller_;) {
      awaitable_frame* const caller = frame->caller_;
      std::exchange(frame->call_->callee_, nullptr).destroy();
      frame = caller;
    }
  }

 protected:
  awaitable_frame() noexcept {}
  ~awaitable_frame() = default;

  logical_thread_base* thread_;  // null below a coroutine that is none of weft's
  awaitable_frame* caller_;
  union {
    call* call_;     // with a caller
    void* foreign_;  // without, and without a thread
  };
  std::source_location where_;
};

}  // namespace WEFT_NAMESPACE::detail
