// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <coroutine>
#include <memory>
#include <utility>

#include <weft/async/cancellation_state.hpp>
#include <weft/base/operation_function.hpp>
#include <weft/context/handover.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/coro/resume_loop.hpp>
#include <weft/execution/submit.hpp>

namespace WEFT_NAMESPACE::detail {

class awaitable_frame;

/// What the coroutines of one co_spawn have in common: a chain of calls, of which the innermost
/// runs or waits, on one executor. It owns the chain: whoever holds it (the operation that is
/// waited for, in its handler; an executor's queue; the loop that runs it) ends it by resuming the
/// innermost coroutine or by destroying all.
///
/// It is used by one thread at a time.
class logical_thread_base : public operation, public resume_loop::epilogue {
 public:
  /// After so many operations in a row that completed inside their initiating functions, others
  /// have their turn (P2).
  static constexpr unsigned most_in_place = 32;

  cancellation_slot parent_slot;
  cancellation_state cancellation;
  bool throws_if_cancelled = true;
  const awaitable_frame* innermost = nullptr;  // the coroutine that waits for an operation

  /// The operation that the innermost coroutine waits for has completed.
  void resume(std::coroutine_handle<> innermost_coroutine) {
    in_place_ = 0;
    resume_loop::run(innermost_coroutine);
  }

  /// Another operation has completed in its initiating function. Whether the coroutine may go on.
  bool may_go_on() noexcept { return ++in_place_ < most_in_place; }

 protected:
  logical_thread_base(operation::function run, epilogue::function end) noexcept
      : operation(run), epilogue(end) {}
  ~logical_thread_base() = default;

  std::coroutine_handle<> next_;  // when taken out of a queue: to be resumed; null: all has ended

 private:
  unsigned in_place_ = 0;
};

template <class Executor>
class logical_thread : public logical_thread_base {
 public:
  const Executor& get_executor() const noexcept { return executor_; }

  /// Goes on with the innermost coroutine when others have had their turn.
  void resume_later(std::coroutine_handle<> innermost_coroutine) { submit(innermost_coroutine); }

  /// The outermost coroutine has ended, and is suspended.
  void ended() noexcept {
    if (!resume_loop::end(*this)) [[unlikely]]
      submit(nullptr);
  }

 protected:
  logical_thread(operation::function run, epilogue::function end, const Executor& executor)
      : logical_thread_base(run, end), executor_(executor) {}
  ~logical_thread() = default;

  /// Has the executor run this. If it refuses, which nobody could be told, this thread does.
  void submit(std::coroutine_handle<> next) {
    next_ = next;
    if (scheduler* const native = native_scheduler(executor_)) [[likely]] {
      scheduler_post(*native, this);
      return;
    }
    const Executor executor(executor_);
    handover given(this);
    try {
      executor_post(executor, operation_function(this), std::allocator<void>());
    } catch (...) {
      if (!given.is_returned())
        throw;
    }
    if (given.is_returned()) [[unlikely]]
      invoke();
  }

 private:
  [[no_unique_address]] Executor executor_;
};

}  // namespace WEFT_NAMESPACE::detail
