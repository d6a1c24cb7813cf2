// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <mutex>
#include <utility>

#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/lock_word.hpp>
#include <weft/sync/wait_object.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

/// A mutex that is handed from owner to owner in the order of asking. The queue also holds
/// operations of conditions, which relock it.
template <class Policy>
class mutex_core final : public wait_core<Policy> {
 public:
  using request = no_request;

  explicit mutex_core(execution_context& context) : wait_core<Policy>(context) {}

  bool try_enter(const request&) noexcept {
    this->touch();
    return word_.try_lock();
  }

  bool wait(core_operation<mutex_core>& op) noexcept {
    const std::lock_guard lock(*this);
    if (word_.lock_or_wait()) {
      op.become_granted();
      return false;
    }
    op.become_pending();
    waiting_.push(op);
    return true;
  }

  /// Has an operation of a condition wait for the mutex.
  void relock(relocking_operation& op) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    if (is_closed_ || op.is_abandoned_)
      done.abort(op);
    else if (word_.lock_or_wait())
      done.grant(op);
    else
      waiting_.push(op);
  }

  /// One that relocks ends without the mutex.
  void abandon(relocking_operation& op) noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    op.is_abandoned_ = true;
    if (waiting_.contains(op))
      withdraw(op, done);
  }

  /// Unlocks the mutex, or hands it to who waits first.
  void leave_lock() noexcept {
    this->touch();
    assert(word_.is_locked() && "a mutex is unlocked that nobody has locked");
    if (!word_.try_unlock())
      hand_on();
  }

  void give_back(const request&) noexcept { leave_lock(); }

  void withdraw(waiting_operation& op, completed_waits& out) noexcept {
    waiting_.remove(op);
    out.abort(op);
  }

 private:
  void hand_on() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    waiting_operation* const next = waiting_.pop();
    if (!next)
      return word_.unlock();
    if (waiting_.empty())
      word_.become_unwaited();
    done.grant(*next);
  }

  void take_pending(completed_waits& out) noexcept override {
    waiting_operation* next;
    for (waiting_operation* op = waiting_.front(); op; op = next) {
      next = waiting_.after(*op);
      if (op->is_pending())
        withdraw(*op, out);
    }
  }
  void take_all(completed_waits& out) noexcept override {
    is_closed_ = true;
    if (!waiting_.empty())
      word_.become_unwaited();
    out.abort(waiting_);
  }

  bool is_closed_ = false;
  lock_word<typename policy_atomics<Policy>::type> word_;
  wait_list<waiting_operation> waiting_;
};

}  // namespace detail

/// Lets one at a time use what it guards: callbacks, coroutines and fibers wait for it without
/// blocking a thread.
///
///     async_mutex mutex(context);
///     awaitable<void> append(record r) {
///       auto lock = co_await mutex.async_scoped_lock();
///       co_await log.async_write(r);       // nobody else is between lock and unlock
///     }
///
/// It is handed over in the order of asking: an `unlock` passes it to who has waited longest, and
/// nobody overtakes. It belongs to nobody in particular: whoever has been granted it may unlock it,
/// on any thread. Not recursive.
///
/// Each wait completes with success when the mutex has been granted to it, and with
/// error::operation_aborted if it was cancelled before, by its slot (terminal, partial or total) or
/// by `cancel`, or the mutex was destroyed; it has no part in the mutex then. A cancellation that
/// comes after the grant changes nothing: the wait reports success, and has the mutex. No handler
/// is called inside the initiating function, but by its immediate executor; a coroutine goes on at
/// once with a mutex that is free.
///
/// Cost: to lock and to unlock a free mutex are one atomic read-modify-write each, and none of
/// `sharing::local`; otherwise O(1) under a short lock. Nothing is allocated but by the
/// constructor, and for handlers.
///
/// Thread safety: all members, any thread, but for the destructor. With `sharing::local`, one
/// thread.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_mutex : public detail::wait_object<detail::mutex_core<Policy>, Executor> {
  using core_type = detail::mutex_core<Policy>;
  using base = detail::wait_object<core_type, Executor>;

 public:
  using typename base::executor_type;
  /// The same mutex type with another executor.
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_mutex<Policy, Executor1>;
  };

  /// Owns the mutex, and unlocks it at its end, or by its `unlock`. Movable.
  using scoped_lock = detail::core_lock<core_type, &core_type::leave_lock>;

  /// A free mutex. Throws std::bad_alloc.
  explicit basic_async_mutex(const Executor& executor) : base(executor) {}
  template <detail::executor_source<Executor> Context>
  explicit basic_async_mutex(Context& context) : base(Executor(context.get_executor())) {}

  /// Locks it if it is free. Never waits.
  bool try_lock() noexcept { return this->core().try_enter({}); }

  /// Unlocks it, or hands it to who has waited longest. It must be locked.
  void unlock() noexcept { this->core().leave_lock(); }

  /// Locks it. Completion: void(error_code).
  template <completion_token_for<void(error_code)> LockToken = default_completion_token_t<Executor>>
  auto async_lock(LockToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<>(std::forward<LockToken>(token));
  }

  /// Locks it for an object that unlocks it. Completion: void(error_code, scoped_lock), which owns
  /// nothing after an error.
  template <completion_token_for<void(error_code, scoped_lock)> LockToken =
                default_completion_token_t<Executor>>
  auto async_scoped_lock(LockToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<detail::lock_request<core_type, scoped_lock>>(
        std::forward<LockToken>(token));
  }

 private:
  friend struct detail::lock_access;
};

using async_mutex = basic_async_mutex<>;

}  // namespace WEFT_NAMESPACE
