// SPDX-License-Identifier: BSL-1.0
#pragma once

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
    logical_thread_base* of_;
  };

  unscheduled_thread() noexcept : logical_thread_base(&run) {}
  unscheduled_thread(const unscheduled_thread&) = delete;
  unscheduled_thread& operator=(const unscheduled_thread&) = delete;
  ~unscheduled_thread() { take_waiter(); }

  /// Destroys all coroutines but the outermost.
  using logical_thread_base::record;
  using logical_thread_base::unwind;

  bool is_started() const noexcept { return stage_ != stage::queued; }

  /// Its outermost coroutine is called by another one, in whose logical thread it runs: this one is
  /// never started.
  void called_elsewhere() noexcept { is_called_ = true; }
  bool may_start() const noexcept { return !is_started() && !is_called_; }
  bool is_awaited() const noexcept { return waiter_ || is_called_; }

  /// Runs the chain to its first wait or its end. False if it has ended: who waits is not resumed.
  bool start(awaitable_frame& outermost, awaitable_frame::call& by) noexcept {
    stage_ = stage::running;
    outermost.call_from(*this, by);
    if (!resume_loop::run_to_end(outermost.handle(), *this))
      return true;
    take_waiter();
    end_record();
    return false;
  }

  /// `h`, of the logical thread `of` or of none, is resumed at the end, unless `w` is gone then.
  void wait(std::coroutine_handle<> h, waiter& w, logical_thread_base* of = nullptr) noexcept {
    w.handle_ = h;
    w.of_ = of;
    w.thread_ = this;
    waiter_ = &w;
  }

 private:
  // It is never queued: the chain has ended.
  static void run(operation* base, action what) {
    if (what == action::describe)
      return describe<unscheduled_thread>(base);
    // If who waits ends with it, so does who waits for that: one after the other, on no deeper
    // stack.
    for (auto* self = static_cast<unscheduled_thread*>(base);;) {
      self->end_record();
      waiter* const w = self->take_waiter();
      if (!w)
        return;
      const std::coroutine_handle<> h = w->handle_;
      logical_thread_base* const waiting = w->of_;
      if (!waiting)
        return h.resume();
      if (waiting->has_executor())
        return waiting->run_below(h);
      if (!resume_loop::run_to_end(h, *waiting))
        return;
      self = static_cast<unscheduled_thread*>(waiting);
    }
  }

  waiter* take_waiter() noexcept {
    waiter* const w = std::exchange(waiter_, nullptr);
    if (w)
      w->thread_ = nullptr;
    return w;
  }

  bool is_called_ = false;
  waiter* waiter_ = nullptr;
};

}  // namespace WEFT_NAMESPACE::detail
