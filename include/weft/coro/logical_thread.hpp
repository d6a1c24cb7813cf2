// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_state.hpp>
#include <weft/base/task_record.hpp>
#include <weft/context/native_scheduler.hpp>
#include <weft/context/operation_offer.hpp>
#include <weft/coro/awaitable_frame.hpp>
#include <weft/coro/resume_loop.hpp>
#include <weft/execution/any_io_executor.hpp>

namespace WEFT_NAMESPACE::detail {

/// What the coroutines of one co_spawn have in common: a chain of calls, of which the innermost
/// runs or waits, on one executor. It owns the chain: whoever holds it (the operation that is
/// waited for, in its handler; an executor's queue; the loop that runs it) ends it by resuming the
/// innermost coroutine or by destroying all.
///
/// Its operation's function resumes the innermost coroutine, or, when the outermost has ended,
/// concludes the chain.
///
/// It is used by one thread at a time. Here is what is the same for every type of executor; what
/// has none waits for no operation, and is run by who resumes it.
class logical_thread_base : public operation, public task_record, public resume_loop::chain {
 public:
  using executor_type = any_io_executor;
  using allocator_type = std::allocator<void>;

  /// So many operations in a row may complete inside their initiating functions before others have
  /// their turn (P2).
  static constexpr unsigned most_in_place = 32;

  cancellation_slot parent_slot;
  cancellation_state cancellation;

  /// The executor, as one of a type that every coroutine knows.
  any_io_executor get_executor() const noexcept { return functions_->get(*this); }
  /// Whether there is one.
  bool has_executor() const noexcept { return functions_; }

  allocator_type get_allocator() const noexcept { return {}; }
  cancellation_slot get_cancellation_slot() const noexcept { return cancellation.slot(); }

  /// Whether it is a logical_thread<Executor>.
  template <class Executor>
  bool runs_on() const noexcept {
    return functions_ == &functions<Executor>;
  }

  /// The scheduler behind the executor, if that does nothing but hand functions to it, or null.
  scheduler* native() const noexcept { return native_; }

  /// Whether co_await is to throw.
  bool is_to_throw() const noexcept { return throws_if_cancelled && !!cancellation.cancelled(); }

  /// A coroutine is about to wait. For an operation: whether it is to throw instead.
  bool begin_wait(awaitable_frame& innermost) noexcept {
    assert(!waits_for() && "a coroutine is resumed once for each wait, by what it waits for");
    innermost_ = &innermost;
    innermost.leave_stack();
    if (!cancellation.slot().is_connected()) [[likely]]
      return false;
    arm(cancellation);
    return is_to_throw();
  }

  /// The operation that the innermost coroutine waits for has completed.
  void resume() {
    if (run_innermost())
      operation::invoke();
  }

  /// An operation has completed in its initiating function. Whether the coroutine may go on at
  /// once.
  bool may_go_on() noexcept { return ++in_place_ <= most_in_place; }

  /// Goes on with the innermost coroutine when others have had their turn. False if the executor
  /// refuses: the coroutine goes on at once.
  bool resume_later() noexcept {
    in_place_ = 0;
    return submit();
  }

  /// The outermost coroutine has ended, and is suspended. If no loop runs the chain, it is
  /// concluded in the executor; or here, if that refuses.
  void ended() noexcept {
    innermost_ = nullptr;
    if (!resume_loop::end(*this)) [[unlikely]]
      conclude_later();
  }

  /// A coroutine that was resumed by others calls `h`: it runs in a loop of its own. Nothing of the
  /// caller may be touched after that.
  void run_below(std::coroutine_handle<> h) noexcept {
    if (resume_loop::run_to_end(h, *this))
      conclude_later();
  }

 protected:
  enum class stage : unsigned char { queued, running, concluded };

  /// What depends on the type of the executor.
  struct executor_functions {
    bool (*submit)(logical_thread_base&) noexcept;
    any_io_executor (*get)(const logical_thread_base&) noexcept;
  };
  template <class Executor>
  static const executor_functions functions;

  /// One without an executor, which is not recorded before it calls `record`.
  explicit logical_thread_base(operation::function run) noexcept
      : operation(run), functions_(nullptr), native_(nullptr) {}
  logical_thread_base(operation::function run, const executor_functions& of_executor,
                      scheduler* native, const std::source_location& spawned) noexcept
      : operation(run), task_record(kind, spawned), functions_(&of_executor), native_(native) {}
  ~logical_thread_base() = default;

  /// Has the executor run this. Returns whether it will.
  bool submit() noexcept {
    if (native_) [[likely]] {
      scheduler_post(*native_, this);
      return true;
    }
    return has_executor() && functions_->submit(*this);
  }

  void conclude_later() noexcept {
    if (!submit())
      operation::invoke();
  }

  /// Whether coroutines wait, or are queued to go on: when it is taken out of a queue.
  bool goes_on_below() const noexcept { return innermost_; }
  /// Goes on with the innermost coroutine. Whether the chain has ended.
  bool run_innermost() {
    goes_on();
    in_place_ = 0;
    return resume_loop::run_to_end(innermost_->handle(), *this);
  }

  /// Destroys the coroutines but the outermost, the innermost first, without recursion.
  void unwind() noexcept {
    if (!innermost_)
      return;
    goes_on();
    awaitable_frame::destroy_callees(*std::exchange(innermost_, nullptr));
  }

  void record(const std::source_location& spawned) noexcept { task_record::record(kind, spawned); }

  awaitable_frame* innermost_ = nullptr;  // the last that waited; null: all have ended

 private:
  WEFT_API static const task_kind kind;
  static std::size_t calls(const task_record& task, std::span<std::source_location> into) noexcept;

  const executor_functions* const functions_;
  scheduler* const native_;
  unsigned char in_place_ = 0;

 public:
  bool throws_if_cancelled = true;

 protected:
  stage stage_ = stage::queued;
};

template <class Executor>
class logical_thread : public logical_thread_base {
 public:
  using executor_type = Executor;

  const Executor& get_executor() const noexcept { return executor_; }

 protected:
  logical_thread(operation::function run, const Executor& executor,
                 const std::source_location& spawned)
      : logical_thread_base(run, functions<Executor>, native_scheduler(executor), spawned),
        executor_(executor) {}
  ~logical_thread() = default;

 private:
  friend class logical_thread_base;

  static bool submit_to_executor(logical_thread_base& base) noexcept {
    return post_to(static_cast<logical_thread&>(base).executor_, &base);
  }

  static any_io_executor erased_executor(const logical_thread_base& base) noexcept {
    if constexpr (std::is_convertible_v<const Executor&, any_io_executor>)
      return static_cast<const logical_thread&>(base).executor_;
    else
      return {};
  }

  [[no_unique_address]] Executor executor_;
};

template <class Executor>
inline constexpr logical_thread_base::executor_functions logical_thread_base::functions = {
    &logical_thread<Executor>::submit_to_executor, &logical_thread<Executor>::erased_executor};

}  // namespace WEFT_NAMESPACE::detail
