// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <cassert>
#include <mutex>
#include <type_traits>
#include <utility>

#include <weft/async/async_result.hpp>
#include <weft/base/error_code.hpp>
#include <weft/context/direct_initiation.hpp>
#include <weft/execution/submit.hpp>
#include <weft/sync/wait_queue.hpp>

namespace WEFT_NAMESPACE::detail {

/// What an operation asks a core for that has only one thing to give.
struct no_request {};

/// An operation that asks its core for something, and waits if it must. The core has
///   - `using request`;
///   - `bool try_enter(const request&) noexcept`: takes what is asked for if it is there, and
///     nobody waits before;
///   - `bool wait(core_request&) noexcept`: the same, and links the operation if not. Returns
///     whether it is pending;
///   - if a wait that has completed leaves something to do without locks, `void conclude(const
///     core_request&) noexcept`;
///   - if what it gives must come back, `void give_back(const request&) noexcept`: takes it from an
///     operation that is destroyed and has told nobody of it.
///
/// An operation can be destroyed so while its core is in use if the executor of the handler, or the
/// context that its owner is of, is another than that of the core. Then it retains the core. To one
/// that has been shut down it does no harm.
template <class Core>
class core_request : public core_operation<Core> {
  // Looked at when all of the core is known: where a member is used.
  template <class C = Core>
  static constexpr bool must_come_back =
      requires(C& core, const typename C::request& asked) { core.give_back(asked); };

 public:
  using signature = void(error_code);
  using request = typename Core::request;

  template <class Initiation>
  core_request(operation::function f, scheduler& owner, Initiation&& initiation) noexcept
      : core_operation<Core>(f, owner, initiation.core()), request_(initiation.request()) {}
  ~core_request() {
    if constexpr (must_come_back<>)
      if (this->is_granted() && this->is_retaining()) [[unlikely]] {
        this->core().change_thread();
        this->core().give_back(request_);
      }
  }

  const request& asked() const noexcept { return request_; }

  template <class C = Core>
    requires must_come_back<C>
  void retain_for_others() noexcept {
    this->retain();
  }

  bool try_complete() noexcept {
    if (!this->core().try_enter(request_))
      return false;
    retain_what_must_come_back();
    this->become_granted();
    return true;
  }
  bool start() noexcept {
    retain_what_must_come_back();
    return this->core().wait(*this);
  }

  void conclude() noexcept
    requires requires(Core& core, const core_request& op) { core.conclude(op); }
  {
    this->core().conclude(*this);
  }

  operation_results<error_code> take_results() noexcept {
    if (!this->is_granted())
      return {error::operation_aborted};
    this->become_taken();
    return {error_code()};
  }

 private:
  void retain_what_must_come_back() noexcept {
    if constexpr (must_come_back<>)
      this->retain_if_abroad();
  }

  [[no_unique_address]] const request request_;
};

/// A core whose operations wait in one queue, and are served in order. The derived class `Derived`
/// has, called under the lock, `bool enter(const Request&) noexcept`: takes what is asked for, if
/// it is there.
template <class Derived, class Policy, class Request>
class queue_core : public wait_core<Policy> {
 public:
  using request = Request;
  using operation = core_request<Derived>;

  bool try_enter(const request& asked) noexcept {
    const std::lock_guard lock(*this);
    return may_enter(asked);
  }

  bool wait(operation& op) noexcept {
    const std::lock_guard lock(*this);
    return enter_or_queue(op);
  }

  void withdraw(waiting_operation& op, completed_waits& out) noexcept {
    waiting_.remove(static_cast<operation&>(op));
    out.abort(op);
    serve(out);
  }

 protected:
  using wait_core<Policy>::wait_core;

  /// Under the lock: whether it is pending.
  bool enter_or_queue(operation& op) noexcept {
    if (may_enter(op.asked())) {
      op.become_granted();
      return false;
    }
    op.become_pending();
    waiting_.push(op);
    return true;
  }

  /// Gives to those who wait, as long as there is what the first of them asks for.
  void serve(completed_waits& out) noexcept {
    while (operation* const first = waiting_.front()) {
      if (!self().enter(first->asked()))
        return;
      waiting_.remove(*first);
      out.grant(*first);
    }
  }

  void take_pending(completed_waits& out) noexcept override { out.abort(waiting_); }

 private:
  Derived& self() noexcept { return static_cast<Derived&>(*this); }
  bool may_enter(const request& asked) noexcept { return waiting_.empty() && self().enter(asked); }

  wait_list<operation> waiting_;
};

/// The initiation of an operation that asks `Core` for something.
template <class Core, class Executor, class Operation>
class initiate_request {
 public:
  using executor_type = Executor;
  using operation_type = Operation;

  initiate_request(Core& core, const Executor& executor, const typename Core::request& request)
      : core_(&core), executor_(&executor), request_(request) {}

  const executor_type& get_executor() const noexcept { return *executor_; }
  scheduler& owner() const noexcept { return core_->owner(); }
  Core& core() const noexcept { return *core_; }
  const typename Core::request& request() const noexcept { return request_; }

  template <completion_handler_for<typename Operation::signature> Handler>
  void operator()(Handler&& handler) const {
    initiate_directly(initiate_request(*this), std::forward<Handler>(handler));
  }

 private:
  Core* core_;
  const Executor* executor_;
  [[no_unique_address]] typename Core::request request_;
};

/// What the objects of sync/ have in common: a core and an executor. They can be neither copied nor
/// moved, for operations that wait, and deferred ones, name them.
template <class Core, class Executor>
class wait_object {
 public:
  /// The executor of completion handlers that have none of their own.
  using executor_type = Executor;

  wait_object(const wait_object&) = delete;
  wait_object& operator=(const wait_object&) = delete;

  const executor_type& get_executor() const noexcept { return executor_; }

  /// Ends all that waits now: it completes with error::operation_aborted, and has had no effect.
  /// Any thread.
  void cancel() noexcept { core_->cancel(); }

 protected:
  /// The core is made from the context and `args`.
  template <class... Args>
  explicit wait_object(const Executor& executor, Args&&... args)
      : executor_(executor),
        core_(std::in_place, executor_context(executor_), std::forward<Args>(args)...) {}
  ~wait_object() = default;

  Core& core() const noexcept { return *core_; }

  template <class Operation = core_request<Core>, class Token>
  auto ask(Token&& token, const typename Core::request& request = {}) {
    return async_initiate<Token, typename Operation::signature>(
        initiate_request<Core, Executor, Operation>(core(), executor_, request), token);
  }

 private:
  Executor executor_;
  core_handle<Core> core_;
};

/// Owns a lock that a core has granted, until `unlock` or its end: `Release` gives it back. The
/// object that it is a lock of may end before, as when a context destroys the coroutine in which
/// the lock lies.
template <class Core, void (Core::*Release)() noexcept>
class core_lock {
 public:
  /// Owns nothing.
  core_lock() = default;
  core_lock(core_lock&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  core_lock& operator=(core_lock&& other) noexcept {
    core_lock old(std::move(*this));
    core_ = std::exchange(other.core_, nullptr);
    return *this;
  }
  ~core_lock() { unlock(); }

  bool owns_lock() const noexcept { return core_ != nullptr; }
  explicit operator bool() const noexcept { return owns_lock(); }

  /// Gives the lock back. Does nothing if it owns none.
  void unlock() noexcept {
    if (Core* const core = std::exchange(core_, nullptr)) {
      (core->*Release)();
      core->release();
    }
  }

 private:
  friend struct lock_access;

  explicit core_lock(Core& core) noexcept : core_(&core) { core.retain(); }

  Core* core_ = nullptr;
};

struct lock_access {
  template <class Lock, class Core>
  static Lock adopt(Core& core) noexcept {
    return Lock(core);
  }
  /// Has it own nothing, without giving the lock back.
  template <class Lock>
  static void disown(Lock& lock) noexcept {
    std::exchange(lock.core_, nullptr)->release();
  }
  /// The core that a core_lock holds, or that of a mutex.
  template <class Lock>
  static auto& core(Lock& lock) noexcept {
    if constexpr (requires { lock.owns_lock(); }) {
      assert(lock.owns_lock() && "a wait needs a lock that owns its mutex");
      return *lock.core_;
    } else {
      return lock.core();
    }
  }
};

/// A request whose result is a core_lock.
template <class Core, class Lock>
class lock_request : public core_request<Core> {
 public:
  using signature = void(error_code, Lock);
  using core_request<Core>::core_request;

  operation_results<error_code, Lock> take_results() noexcept {
    if (!this->is_granted())
      return {error::operation_aborted, Lock()};
    this->become_taken();
    return {error_code(), lock_access::adopt<Lock>(this->core())};
  }
};

}  // namespace WEFT_NAMESPACE::detail
