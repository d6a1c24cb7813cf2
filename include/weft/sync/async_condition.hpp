// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <mutex>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_state.hpp>
#include <weft/async/compose.hpp>
#include <weft/execution/any_io_executor.hpp>
#include <weft/sync/async_mutex.hpp>

namespace WEFT_NAMESPACE {

namespace detail {

template <class Policy>
class condition_core;

/// Waits in a condition, and then in the queue of the mutex that it unlocked when it started.
template <class Policy>
class condition_wait : public core_operation<condition_core<Policy>, relocking_operation> {
  using base = core_operation<condition_core<Policy>, relocking_operation>;

 public:
  using signature = void(error_code);

  template <class Initiation>
  condition_wait(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : base(f, owner, initiation.core(), &relock), mutex_(initiation.request()) {}

  bool start() noexcept {
    this->core().wait(*this, *mutex_);
    return true;
  }

 private:
  static void relock(relocking_operation& op) noexcept {
    static_cast<condition_wait&>(op).mutex_->relock(op);
  }

  mutex_core<Policy>* const mutex_;
};

template <class Policy>
class condition_core final : public wait_core<Policy> {
 public:
  using request = mutex_core<Policy>*;

  explicit condition_core(execution_context& context) : wait_core<Policy>(context) {}

  /// The operation waits from before the mutex is unlocked, and cannot complete until it is.
  void wait(condition_wait<Policy>& op, mutex_core<Policy>& mutex) noexcept {
    {
      const std::lock_guard lock(*this);
      op.become_pending();
      waiting_.push(op);
    }
    mutex.leave_lock();
  }

  void withdraw(waiting_operation& op, completed_waits& out) noexcept {
    waiting_.remove(op);
    out.abort(op);
  }

  void notify_one() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    if (waiting_operation* const first = waiting_.pop())
      done.grant(*first);
  }
  void notify_all() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    done.grant(waiting_);
  }

 private:
  void take_pending(completed_waits& out) noexcept override { out.abort(waiting_); }

  wait_list<waiting_operation> waiting_;
};

/// Waits until a predicate holds.
template <class Condition, class Lock, class Predicate>
struct condition_loop {
  Condition* condition;
  Lock* lock;
  Predicate predicate;
  bool is_started = false;

  template <class Self>
  void operator()(Self& self, error_code ec = error_code()) {
    if (!std::exchange(is_started, true))
      self.reset_cancellation_state(enable_total_cancellation());
    if (ec || predicate())
      return self.complete(ec);
    Condition* const c = condition;
    Lock& l = *lock;
    c->async_wait(l, std::move(self));
  }
};

}  // namespace detail

/// Waits for what another one changes under the same mutex.
///
///     auto lock = co_await mutex.async_scoped_lock();
///     while (queue.empty())
///       co_await condition.async_wait(lock);   // the mutex is unlocked meanwhile
///     take(queue.front());
///
/// A wait unlocks the mutex and begins to wait in one step: whoever changes something after that
/// under the mutex, and notifies, wakes it. It completes when it has locked the mutex again,
/// whatever its result: success if it was notified, error::operation_aborted if it was cancelled
/// before (terminal, partial, total; `cancel`), or the condition was destroyed. So a cancelled wait
/// may have to wait for the mutex, too; only if the mutex is destroyed it completes without.
/// No wait completes without a reason, but another one may have been faster: look again.
///
/// Cost: O(1) under a short lock, and what the mutex costs; `notify_all`, O(1) for each that waits.
/// Thread safety: all members, any thread, but for the destructor; with `sharing::local`, one
/// thread. The contexts of those who wait must outlive their waits, and so must the mutexes.
template <class Policy = sharing::concurrent, class Executor = any_io_executor>
class basic_async_condition : public detail::wait_object<detail::condition_core<Policy>, Executor> {
  using base = detail::wait_object<detail::condition_core<Policy>, Executor>;

 public:
  using typename base::executor_type;
  template <class Executor1>
  struct rebind_executor {
    using other = basic_async_condition<Policy, Executor1>;
  };

  /// Throws std::bad_alloc.
  explicit basic_async_condition(const Executor& executor) : base(executor) {}
  template <detail::executor_source<Executor> Context>
  explicit basic_async_condition(Context& context) : base(Executor(context.get_executor())) {}

  /// Ends the wait of the one that has waited longest, or of all. With the mutex locked or not.
  void notify_one() noexcept { this->core().notify_one(); }
  void notify_all() noexcept { this->core().notify_all(); }

  /// Waits to be notified. `lock` is a basic_async_mutex of the same policy, which is locked, or a
  /// scoped_lock that owns one; it must outlive the wait. Completion: void(error_code).
  template <class Lock,
            completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(Lock& lock, WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<detail::condition_wait<Policy>>(std::forward<WaitToken>(token),
                                                              &detail::lock_access::core(lock));
  }

  /// Waits until `predicate()` is true, looking at once and whenever it is notified, with the mutex
  /// locked: while the operation is started, and in the handler's executor. Completion:
  /// void(error_code).
  template <class Lock, std::predicate Predicate,
            completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(Lock& lock, Predicate predicate,
                  WaitToken&& token = default_completion_token_t<Executor>()) {
    using loop = detail::condition_loop<basic_async_condition, Lock, Predicate>;
    return async_compose<WaitToken, void(error_code)>(loop{this, &lock, std::move(predicate)},
                                                      token, this->get_executor());
  }
};

using async_condition = basic_async_condition<>;

}  // namespace WEFT_NAMESPACE
