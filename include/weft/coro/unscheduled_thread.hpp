// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <coroutine>
#include <utility>

#include <weft/coro/logical_thread.hpp>

namespace WEFT_NAMESPACE::detail {

/// A logical thread without an executor, in who owns the chain: it is run by those who resume its
/// coroutines. A coroutine that is none of its own may wait for its end.
class unscheduled_thread final : public logical_thread_base {
 public:
  /// Who waits for the end: as long as this and the thread live.
  class waiter {
   public:
    waiter() noexcept = default;
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    ~waiter() {
      if (thread_)
        thread_->waiter_ = nullptr;
    }

   private:
    friend unscheduled_thread;
    unscheduled_thread* thread_ = nullptr;
    std::coroutine_handle<> handle_;
  };

  unscheduled_thread() noexcept : logical_thread_base(&never_queued, &conclude) {}
  unscheduled_thread(const unscheduled_thread&) = delete;
  unscheduled_thread& operator=(const unscheduled_thread&) = delete;
  ~unscheduled_thread() { take_waiter(); }

  /// Destroys all coroutines but the outermost.
  using logical_thread_base::record;
  using logical_thread_base::unwind;

  bool is_started() const noexcept { return is_started_; }

  /// Runs the chain to its first wait or its end. False if it has ended: who waits is not resumed.
  bool start(awaitable_frame& outermost, awaitable_frame::call& by) noexcept {
    is_started_ = true;
    outermost.call_from(*this, by);
    if (!resume_loop::run_to_end(outermost.handle(), *this))
      return true;
    take_waiter();
    end_record();
    return false;
  }

  /// Goes on with the coroutine that has waited last.
  void resume() { logical_thread_base::resume(innermost_->handle()); }

  /// `h` is resumed at the end, unless `w` is gone then.
  void wait(std::coroutine_handle<> h, waiter& w) noexcept {
    assert(!waiter_ && "a callable is awaited by one coroutine");
    w.handle_ = h;
    w.thread_ = this;
    waiter_ = &w;
  }

 private:
  static void never_queued(operation* answer, action what) {
    if (what == action::describe)
      describe<unscheduled_thread>(answer);
  }
  static void conclude(resume_loop::chain* chain) {
    auto* const self = static_cast<unscheduled_thread*>(chain);
    self->end_record();
    if (const std::coroutine_handle<> h = self->take_waiter())
      h.resume();
  }

  std::coroutine_handle<> take_waiter() noexcept {
    waiter* const w = std::exchange(waiter_, nullptr);
    if (!w)
      return nullptr;
    w->thread_ = nullptr;
    return w->handle_;
  }

  waiter* waiter_ = nullptr;
  bool is_started_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
