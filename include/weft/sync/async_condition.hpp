// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
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

/// What a wait unlocks, and locks again.
template <class Policy>
struct condition_request {
  using mutex_type = mutex_core<Policy>;
  using lock_type = core_lock<mutex_type, &mutex_type::leave_lock>;
  static constexpr std::size_t any_epoch = std::numeric_limits<std::size_t>::max();

  template <class Lock>
  explicit condition_request(Lock& l) noexcept : mutex(core_of(l)) {
    if constexpr (std::is_same_v<Lock, lock_type>)
      lock = &l;
  }

  template <class Lock>
  static mutex_type& core_of(Lock& l) noexcept {
    static_assert(
        std::is_same_v<Lock, lock_type> ||
            requires { []<class Executor>(basic_async_mutex<Policy, Executor>&) {}(l); },
        "a condition waits with a basic_async_mutex of the same policy, or a scoped_lock of one");
    return lock_access::core(l);
  }

  core_reference<mutex_type> mutex;
  lock_type* lock = nullptr;  // which owns the mutex, if not null
  std::size_t epoch = any_epoch;
};

/// Waits in a condition, and then in the queue of the mutex that it unlocked when it started. The
/// mutex is its own from the moment that it is granted until the results are taken: if it is
/// destroyed in between, it gives the mutex back. A scoped_lock owns nothing meanwhile.
template <class Policy>
class condition_wait : public core_operation<condition_core<Policy>, relocking_operation> {
  using base = core_operation<condition_core<Policy>, relocking_operation>;
  using request = condition_request<Policy>;

 public:
  using signature = void(error_code);

  template <class Initiation>
  condition_wait(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : base(f, owner, initiation.core(), &relock), request_(initiation.request()) {}
  /// A notification that it cannot tell of goes to another one.
  ~condition_wait() {
    if (this->has_mutex_) {
      request_.mutex->change_thread();
      request_.mutex->leave_lock();
    }
    if (this->is_granted() && this->is_retaining()) [[unlikely]] {
      this->core().change_thread();
      this->core().notify_one();
    }
  }

  const request& asked() const noexcept { return request_; }

  void become_pending() noexcept {
    relocking_operation::become_pending();
    if (&this->owner() != &this->core().owner() || &this->owner() != &request_.mutex->owner())
        [[unlikely]]
      this->wait_abroad(&abandon);
  }

  /// It may complete before the mutex is unlocked, if that ends.
  bool start() noexcept {
    if (request_.lock)
      lock_access::disown(*request_.lock);
    const core_reference mutex(request_.mutex);
    if (!this->core().wait(*this)) {
      this->has_mutex_ = true;
      return false;
    }
    mutex->leave_lock();
    return true;
  }

  operation_results<error_code> take_results() noexcept {
    if (!std::exchange(this->has_mutex_, false))
      return {error::operation_aborted};
    if (request_.lock)
      *request_.lock = lock_access::adopt<typename request::lock_type>(*request_.mutex);
    const auto results = base::take_results();
    if (this->is_granted())
      this->become_taken();
    return results;
  }

 private:
  static void relock(relocking_operation& op) noexcept {
    static_cast<condition_wait&>(op).request_.mutex->relock(op);
  }

  static bool abandon(waiting_operation& op) noexcept {
    auto& self = static_cast<condition_wait&>(op);
    self.request_.mutex->abandon(self);
    return base::abandon(self);
  }

  const request request_;
};

template <class Policy>
class condition_core final : public wait_core<Policy> {
 public:
  using request = condition_request<Policy>;

  explicit condition_core(execution_context& context) : wait_core<Policy>(context) {}

  /// Counts the cancellations of all waits. One with a predicate does not wait again after one.
  std::size_t epoch() noexcept {
    const std::lock_guard lock(*this);
    return epoch_;
  }

  /// Whether it is pending; if not, it has been cancelled before it began.
  bool wait(condition_wait<Policy>& op) noexcept {
    const std::lock_guard lock(*this);
    const std::size_t epoch = op.asked().epoch;
    if (is_closed_ || (epoch != request::any_epoch && epoch != epoch_))
      return false;
    op.become_pending();
    waiting_.push(op);
    return true;
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
  void take_pending(completed_waits& out) noexcept override {
    ++epoch_;
    out.abort(waiting_);
  }
  void take_all(completed_waits& out) noexcept override {
    is_closed_ = true;
    take_pending(out);
  }

  wait_list<waiting_operation> waiting_;
  std::size_t epoch_ = 0;
  bool is_closed_ = false;
};

/// Waits until a predicate holds. Between two waits the condition may be cancelled, or end.
template <class Policy, class Executor, class Predicate>
struct condition_loop {
  core_reference<condition_core<Policy>> core;
  Executor executor;
  condition_request<Policy> request;
  Predicate predicate;
  bool is_started = false;

  template <class Self>
  void operator()(Self& self, error_code ec = error_code()) {
    if (!std::exchange(is_started, true)) {
      self.reset_cancellation_state(enable_total_cancellation());
      request.epoch = core->epoch();
    }
    if (ec || predicate())
      return self.complete(ec);
    arm(self.get_cancellation_state());
    if (self.cancelled() != cancellation_type::none)
      return self.complete(error::operation_aborted);
    using wait = initiate_request<condition_core<Policy>, Executor, condition_wait<Policy>>;
    const Executor ex(executor);
    wait(*core, ex, request)(std::move(self));
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
/// may have to wait for the mutex, too; only if the mutex is destroyed it completes without, with
/// error::operation_aborted. A scoped_lock owns nothing from the start of a wait until it
/// completes, and nothing then, if the mutex has been destroyed. If its context ends, a wait leaves
/// the mutex to others. No wait completes without a reason, but another one may have been faster:
/// look again.
///
/// Cost: O(1) under a short lock, and what the mutex costs; `notify_all`, O(1) for each that waits.
/// Thread safety: all members, any thread, but for the destructor; with `sharing::local`, one
/// thread.
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
  /// scoped_lock that owns one, and outlives the wait. Completion: void(error_code).
  template <class Lock,
            completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(Lock& lock, WaitToken&& token = default_completion_token_t<Executor>()) {
    return this->template ask<detail::condition_wait<Policy>>(
        std::forward<WaitToken>(token), detail::condition_request<Policy>(lock));
  }

  /// Waits until `predicate()` is true, looking at once and whenever it is notified, with the mutex
  /// locked: while the operation is started, and in the handler's executor. A cancellation between
  /// two looks ends it, too, unless the predicate holds at the next. Completion: void(error_code).
  template <class Lock, std::predicate Predicate,
            completion_token_for<void(error_code)> WaitToken = default_completion_token_t<Executor>>
  auto async_wait(Lock& lock, Predicate predicate,
                  WaitToken&& token = default_completion_token_t<Executor>()) {
    using loop = detail::condition_loop<Policy, Executor, Predicate>;
    return async_compose<WaitToken, void(error_code)>(
        loop{detail::core_reference(this->core()), this->get_executor(),
             detail::condition_request<Policy>(lock), std::move(predicate)},
        token, this->get_executor());
  }
};

using async_condition = basic_async_condition<>;

}  // namespace WEFT_NAMESPACE
