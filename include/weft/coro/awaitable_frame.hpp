// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <bit>
#include <coroutine>
#include <source_location>
#include <utility>

#include <weft/coro/frame_memory.hpp>

namespace WEFT_NAMESPACE::detail {

class logical_thread_base;

/// What `std::source_location::current()` makes its value of. As an argument of a co_await it is
/// better than the class, which g++ keeps in the frame: one for each co_await.
using source_pointer = decltype(__builtin_source_location());

/// What the promises of all coroutines of a logical thread begin with: the chain of callers, and
/// where each waits. What is said of a caller is set before the coroutine runs.
///
/// It is the first base of a promise, at its very address, so that a frame leads to its coroutine.
///
/// A coroutine that another one calls runs on the stack, in the caller's await_suspend, and if it
/// ends there, the caller has never waited: `on_stack_` is where that is told. Before a coroutine
/// waits, or leaves its stack otherwise, it and its callers forget that (`leave_stack`); the calls
/// on the stack then return, and touch nothing of the coroutines, which may be running elsewhere.
/// So a frame is on the stack only if its callers are, or have been resumed there.
class awaitable_frame : public recycled_frame {
 public:
  /// The part of a co_await that owns the coroutine which it calls, until that has ended.
  class call {
   public:
    call(const call&) = delete;
    call& operator=(const call&) = delete;

   protected:
    explicit call(std::coroutine_handle<> callee) noexcept : callee_(callee) {}
    ~call() { destroy_callee(); }

    void destroy_callee() noexcept {
      if (callee_)
        std::exchange(callee_, nullptr).destroy();
    }

    std::coroutine_handle<> callee_;

   private:
    friend class awaitable_frame;
  };

  awaitable_frame(const awaitable_frame&) = delete;
  awaitable_frame& operator=(const awaitable_frame&) = delete;

  /// The one that it runs in.
  logical_thread_base& get_thread() const noexcept { return *thread_; }
  /// Null for the outermost.
  const awaitable_frame* caller() const noexcept { return caller_; }
  /// Of the co_await that it is in.
  std::source_location where() const noexcept {
    return std::bit_cast<std::source_location>(where_);
  }

  std::coroutine_handle<> handle() noexcept {
    return std::coroutine_handle<awaitable_frame>::from_promise(*this);
  }

  /// Has the coroutine, which is about to be resumed, called by nobody: its logical thread ends
  /// with it.
  void call_from(logical_thread_base& thread, call& by) noexcept {
    thread_ = &thread;
    caller_ = nullptr;
    call_ = &by;
    on_stack_ = nullptr;
  }

  /// Nothing is told any more to what has called the coroutine on this stack.
  void leave_stack() noexcept {
    for (awaitable_frame* frame = this; frame && frame->on_stack_; frame = frame->caller_)
      frame->on_stack_ = nullptr;
  }

  /// Destroys this coroutine and its callers but the outermost, one after the other.
  static void destroy_callees(awaitable_frame& innermost) noexcept {
    for (awaitable_frame* frame = &innermost; frame->caller_;) {
      awaitable_frame* const caller = frame->caller_;
      frame->call_->destroy_callee();
      frame = caller;
    }
  }

 protected:
  awaitable_frame() noexcept {}
  ~awaitable_frame() = default;

  /// Has it called by the co_await `by` of another one.
  void call_from(awaitable_frame& caller, call& by) noexcept {
    thread_ = caller.thread_;
    caller_ = &caller;
    call_ = &by;
  }

  /// If it is on the stack, its caller goes on there, and the frame is nobody's.
  bool end_on_stack() noexcept {
    if (!on_stack_)
      return false;
    *on_stack_ = true;
    return true;
  }
  void disown() noexcept { call_->callee_ = nullptr; }

  logical_thread_base* thread_;
  awaitable_frame* caller_;
  call* call_;
  bool* on_stack_;
  source_pointer where_;
};

}  // namespace WEFT_NAMESPACE::detail
