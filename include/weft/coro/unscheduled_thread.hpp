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
  unscheduled_thread() noexcept : logical_thread_base(&never_queued, &conclude) {}

  /// Destroys all coroutines but the outermost.
  using logical_thread_base::record;
  using logical_thread_base::unwind;

  bool is_started() const noexcept { return is_started_; }

  /// Runs the chain to its first wait or its end; later, `waiter` is resumed when it ends. False if
  /// it has ended: `waiter` is not resumed.
  bool start(awaitable_frame& outermost, awaitable_frame::call& by,
             std::coroutine_handle<> waiter = nullptr) noexcept {
    is_started_ = true;
    waiter_ = waiter;
    outermost.call_from(*this, by);
    if (!resume_loop::run_to_end(outermost.handle(), *this))
      return true;
    end_record();
    return false;
  }

  /// Goes on with the coroutine that has waited last.
  void resume() { logical_thread_base::resume(innermost_->handle()); }

  void wait(std::coroutine_handle<> waiter) noexcept {
    assert(!waiter_ && "a callable is awaited by one coroutine");
    waiter_ = waiter;
  }

 private:
  static void never_queued(operation* answer, action what) {
    if (what == action::describe)
      describe<unscheduled_thread>(answer);
  }
  static void conclude(resume_loop::chain* chain) {
    auto* const self = static_cast<unscheduled_thread*>(chain);
    self->end_record();
    if (const auto waiter = std::exchange(self->waiter_, nullptr))
      waiter.resume();
  }

  std::coroutine_handle<> waiter_;
  bool is_started_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
