// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <atomic>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include <weft/async/cancellation_type.hpp>
#include <weft/base/error.hpp>
#include <weft/base/operation.hpp>
#include <weft/base/operation_results.hpp>
#include <weft/base/reference_count.hpp>
#include <weft/base/sharing_policy.hpp>
#include <weft/context/scheduler.hpp>

// What the objects of sync/ (mutexes, semaphores, channels) have in common.
//
// An object is a handle of a core. The core has the lock, the state and the queues of operations
// that wait; it belongs to a context, whose wait_service knows it. The handle owns a reference to
// it, and so does each waiting operation that may be cancelled, or ended by others than threads of
// the core's context; the others own none.
//
// States of an operation that waits, changed under the lock of its core:
//   fresh -> pending    linked in a queue of its core, counted as work of its owner
//   fresh -> granted    it has completed in its start, which tells that it has, or before
//   pending -> granted  unlinked: what it waited for has been given to it
//   pending -> aborted  unlinked: cancelled, or its object or context has ended
//   granted -> taken    whoever waited has the result; without a lock
// A relocking_operation then goes through the queue of a mutex, under the lock of that. It keeps
// its state meanwhile, for its first core may be asked to cancel it still. A pending operation is
// the core's. Who brings it into a later state owns it, and when the lock has been released gives
// it to its owner, or destroys it if the context ends. From then on its core is not touched for it,
// so its handler may destroy the object, unless the operation is destroyed and gives back what it
// was granted (core_request). A cancellation that comes later changes nothing.
//
// The owner of an operation may be of another context than its core. Then the wait_service of the
// owner's context knows the operation, from when it is about to be pending until it is given to its
// owner or destroyed; and it owns a reference to its core. When that context ends, it has the
// operation taken out of its core and given to its owner, which destroys it un-called.
//
// Contexts that share an object are not destroyed by two threads at the same time: what one gives
// back may be granted to an operation of the other.
//
// What waits in several cores at once, and is ended by others too (a select), is queued with its
// owner under the lock of that wait_service: an `ending_lock`. So the context either comes first,
// or finds it with its scheduler.
//
// Lock order: a cancellation signal before a core; no two cores (but a select locks those of
// all its channels, in the order of their addresses); a core before a wait_service, and
// before no other lock but those inside scheduler_work_started and use_service. Handlers and
// allocators are never called under it.

namespace WEFT_NAMESPACE::detail {

class wait_service;

/// A link of a wait_list.
class waiter {
 public:
  waiter() = default;
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;

 private:
  template <class>
  friend class wait_list;

  waiter* earlier_ = nullptr;
  waiter* later_ = nullptr;
};

/// A first-in-first-out queue of nodes, which derive from waiter. It does not own them. Guarded by
/// the lock of a core. Every member is O(1).
template <class Node>
class wait_list {
 public:
  wait_list() = default;
  wait_list(const wait_list&) = delete;
  wait_list& operator=(const wait_list&) = delete;

  bool empty() const noexcept { return first_ == nullptr; }
  Node* front() const noexcept { return static_cast<Node*>(first_); }

  /// O(n).
  bool contains(const Node& node) const noexcept {
    const Node* n = front();
    while (n && n != &node)
      n = after(*n);
    return n != nullptr;
  }

  /// The one behind `node`, or null.
  static Node* after(const Node& node) noexcept {
    return static_cast<Node*>(static_cast<const waiter&>(node).later_);
  }

  void push(Node& node) noexcept {
    waiter& w = node;
    w.earlier_ = last_;
    w.later_ = nullptr;
    (last_ ? last_->later_ : first_) = &w;
    last_ = &w;
  }

  /// Takes out `node`, which is in this list.
  void remove(Node& node) noexcept {
    waiter& w = node;
    (w.earlier_ ? w.earlier_->later_ : first_) = w.later_;
    (w.later_ ? w.later_->earlier_ : last_) = w.earlier_;
  }

  /// Takes out the first, or returns null if there is none.
  Node* pop() noexcept {
    Node* const node = front();
    if (node)
      remove(*node);
    return node;
  }

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// An operation that waits in a core.
class waiting_operation : public operation, public waiter {
 public:
  enum class state : std::uint8_t { fresh, pending, granted, aborted, taken };

  /// The scheduler whose threads complete it.
  scheduler& owner() const noexcept { return *owner_; }

  bool is_pending() const noexcept { return state_ == state::pending; }
  bool is_granted() const noexcept { return state_ == state::granted; }

  /// It has completed before it has been linked.
  void become_granted() noexcept { state_ = state::granted; }
  /// Who waited for it is told so.
  void become_taken() noexcept {
    assert(state_ == state::granted);
    state_ = state::taken;
  }

  /// Success if it was granted. A kind of operation with other results has a function of its own.
  operation_results<error_code> take_results() noexcept {
    return {is_granted() ? error_code() : error_code(error::operation_aborted)};
  }

 protected:
  /// Has it leave its core, because the context of its owner ends. Returns false if nobody has
  /// taken it, nor will.
  using abandon_function = bool (*)(waiting_operation&) noexcept;

  waiting_operation(function f, scheduler& owner) noexcept : operation(f), owner_(&owner) {}
  ~waiting_operation() {
    if (abroad_) [[unlikely]]
      come_home();
  }

  /// It is about to be linked. Cores call the derived class's, which knows whether it goes abroad.
  void become_pending() noexcept {
    assert(state_ == state::fresh && "an operation is started once");
    scheduler_work_started(*owner_);
    state_ = state::pending;
  }

  /// It is about to be linked in a core of another context than its owner's.
  WEFT_API void go_abroad(abandon_function abandon) noexcept;

 private:
  friend class completed_waits;
  friend class wait_service;
  friend class relocking_operation;

  enum class relocking : std::uint8_t { unneeded, later, begun };

  scheduler* const owner_;
  state state_ = state::fresh;
  relocking relocking_ = relocking::unneeded;

  WEFT_API void come_home() noexcept;

  // What knows it, if its core is of another context. That has the others in its lists, under its
  // lock.
  wait_service* abroad_ = nullptr;
  waiting_operation* next_abroad_;
  waiting_operation** link_abroad_;
  abandon_function abandon_;
};

/// An operation of a condition: once it has been granted or aborted there, it locks a mutex, in
/// whose queue it may have to wait again, and only then is given to its owner: with the mutex, or
/// without if that has ended. That wait cannot be cancelled.
class relocking_operation : public waiting_operation {
 protected:
  /// Called with no lock of a core held.
  using relock_function = void (*)(relocking_operation&) noexcept;

  relocking_operation(function f, scheduler& owner, relock_function relock) noexcept
      : waiting_operation(f, owner), relock_(relock) {
    relocking_ = relocking::later;
  }
  ~relocking_operation() = default;

  // Guarded by the mutex's core until it is given to its owner.
  bool has_mutex_ = false;
  bool is_abandoned_ = false;  // it is not to wait for the mutex

 private:
  friend class completed_waits;
  template <class>
  friend class mutex_core;

  const relock_function relock_;
};

/// Operations that have been taken from their cores under the lock, and are ended when it has been
/// released. So declare it before the lock:
///
///     completed_waits done;
///     const std::lock_guard lock(core);
///     done.grant(*waiting.pop());
class completed_waits {
 public:
  completed_waits() = default;
  completed_waits(const completed_waits&) = delete;
  completed_waits& operator=(const completed_waits&) = delete;
  /// Gives each to its owner. They complete in the order in which they were put in.
  [[gnu::always_inline]] ~completed_waits() {
    if (first_)
      deliver();
  }

  /// Under the lock: an operation that was pending, and has been unlinked, ends so. What it results
  /// in beyond its state has been stored in it. One that relocks is granted the mutex, or not.
  void grant(waiting_operation& op) noexcept {
    become_granted(op);
    push(op);
  }
  void abort(waiting_operation& op) noexcept {
    if (op.relocking_ != waiting_operation::relocking::begun)
      op.state_ = waiting_operation::state::aborted;
    push(op);
  }

  /// Takes all out of `waiting` and has them end so.
  template <class Node>
  void grant(wait_list<Node>& waiting) noexcept {
    while (Node* const op = waiting.pop())
      grant(*op);
  }
  template <class Node>
  void abort(wait_list<Node>& waiting) noexcept {
    while (Node* const op = waiting.pop())
      abort(*op);
  }

  /// Without the lock: destroys them, with their handlers un-called.
  WEFT_API void destroy() noexcept;

 private:
  void push(waiting_operation& op) noexcept {
    operation_queue::next(&op) = nullptr;
    (first_ ? operation_queue::next(last_) : first_) = &op;
    last_ = &op;
  }
  waiting_operation* pop() noexcept {
    operation* const op = first_;
    if (op)
      first_ = operation_queue::next(op);
    return static_cast<waiting_operation*>(op);
  }
  static void become_granted(waiting_operation& op) noexcept {
    if (op.relocking_ == waiting_operation::relocking::begun)
      static_cast<relocking_operation&>(op).has_mutex_ = true;
    else
      op.state_ = waiting_operation::state::granted;
  }
  WEFT_API void deliver() noexcept;
  WEFT_API static void deliver(waiting_operation& op) noexcept;
  void deliver_all() noexcept;

  friend class completed_wait;

  operation* first_ = nullptr;
  operation* last_;
};

/// The same for one operation at most.
class completed_wait {
 public:
  completed_wait() = default;
  completed_wait(const completed_wait&) = delete;
  completed_wait& operator=(const completed_wait&) = delete;
  [[gnu::always_inline]] ~completed_wait() {
    if (op_)
      completed_waits::deliver(*op_);
  }

  void grant(waiting_operation& op) noexcept {
    assert(!op_);
    completed_waits::become_granted(op);
    op_ = &op;
  }

 private:
  waiting_operation* op_ = nullptr;
};

/// The lock of the wait_service of `owner`'s context, which is there: an operation of its is
/// pending, or was.
class WEFT_API ending_lock {
 public:
  explicit ending_lock(scheduler& owner) noexcept;
  ending_lock(const ending_lock&) = delete;
  ending_lock& operator=(const ending_lock&) = delete;
  ~ending_lock();

 private:
  wait_service& service_;
};

/// What the wait_service of a context knows of a core.
class WEFT_API wait_registration {
 public:
  wait_registration(const wait_registration&) = delete;
  wait_registration& operator=(const wait_registration&) = delete;

 protected:
  /// Throws std::bad_alloc.
  explicit wait_registration(execution_context& context);
  virtual ~wait_registration();

  /// The context need not know it any longer: nothing waits in it, nor will. May be called again,
  /// and on two threads.
  void leave() noexcept;

 private:
  friend class wait_service;

  /// The context ends: puts all pending operations in `out`.
  virtual void shut_down(completed_waits& out) noexcept = 0;

  std::atomic<wait_service*> service_;  // null: it has left, or been shut down
  wait_registration* previous_ = nullptr;
  wait_registration* next_ = nullptr;
};

/// A count of references for one thread.
class unshared_reference_count {
 public:
  void add() noexcept { ++count_; }
  bool drop() noexcept { return --count_ == 0; }

 private:
  std::size_t count_ = 1;
};

/// A core: the lock by the policy (it is BasicLockable), the count of references, the place in the
/// context. What waits, and for what, is the derived class's: it has
///   - `void take_pending(completed_waits& out) noexcept`: under the lock, unlinks all operations
///     that can be cancelled and aborts them; and, if others can be in its queues, `take_all`;
///   - for core_operation, `void withdraw(Operation&, completed_waits& out) noexcept`: under the
///     lock, unlinks one that is pending, aborts it, and grants others what they had to wait for
///     because of it. It may decline: then that one is as good as granted;
///   - if cancellation is another thing, `bool abandon(Operation&, completed_waits& out) noexcept`:
///     the same of one whose owner ends. It returns false if that is nobody's to end.
template <class Policy>
class wait_core : public wait_registration {
  static constexpr bool is_concurrent = Policy::is_concurrent;

 public:
  using policy = Policy;

  /// The scheduler of the context that it belongs to.
  scheduler& owner() const noexcept { return *owner_; }

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

  /// An object of one thread, or an operation that waits in it, may be ended by another one, which
  /// knows that it is the last.
  void change_thread() noexcept {
    if constexpr (!is_concurrent)
      mutex_.hand_over();
  }

  void retain() noexcept { references_.add(); }
  void release() noexcept {
    if (references_.drop())
      delete this;
  }

  /// Aborts all that is pending.
  void cancel() noexcept {
    completed_waits done;
    const std::lock_guard lock(*this);
    take_pending(done);
  }

  /// The end of the object: nothing is started in it from now on. Aborts all that is pending, and
  /// gives back the handle's reference.
  void close() noexcept {
    change_thread();
    {
      completed_waits done;
      const std::lock_guard lock(*this);
      take_all(done);
    }
    leave();
    release();
  }

 protected:
  /// Throws std::bad_alloc.
  explicit wait_core(execution_context& context)
      : wait_registration(context), owner_(&use_scheduler(context)) {}
  ~wait_core() override = default;

  /// What is read or written without the lock is about to be: the policy's assertion.
  void touch() noexcept {
    if constexpr (!is_concurrent)
      mutex_.lock();
  }

  virtual void take_pending(completed_waits& out) noexcept = 0;
  virtual void take_all(completed_waits& out) noexcept { take_pending(out); }

 private:
  void shut_down(completed_waits& out) noexcept final {
    change_thread();
    {
      const std::lock_guard lock(*this);
      take_all(out);
    }
    change_thread();
  }

  typename Policy::mutex mutex_;
  std::conditional_t<is_concurrent, reference_count, unshared_reference_count> references_;
  scheduler* const owner_;
};

/// A reference to a core.
template <class Core>
class core_reference {
 public:
  explicit core_reference(Core& core) noexcept : core_(&core) { core_->retain(); }
  core_reference(const core_reference& other) noexcept : core_reference(*other) {}
  core_reference& operator=(const core_reference&) = delete;
  ~core_reference() { core_->release(); }

  Core* operator->() const noexcept { return core_; }
  Core& operator*() const noexcept { return *core_; }

 private:
  Core* const core_;
};

/// Owns an object's reference to its core, and ends the object. One that has been moved from has no
/// core, and must only be assigned to or destroyed.
template <class Core>
class core_handle {
 public:
  /// Throws std::bad_alloc, or what the core's constructor throws.
  template <class... Args>
  explicit core_handle(std::in_place_t, Args&&... args)
      : core_(new Core(std::forward<Args>(args)...)) {}
  /// Takes over the reference to a new core.
  explicit core_handle(Core* core) noexcept : core_(core) {}
  core_handle(core_handle&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  core_handle& operator=(core_handle&& other) noexcept {
    core_handle old(std::move(*this));
    core_ = std::exchange(other.core_, nullptr);
    return *this;
  }
  ~core_handle() {
    if (core_)
      core_->close();
  }

  /// Whether it has not been moved from.
  explicit operator bool() const noexcept { return core_ != nullptr; }
  Core* operator->() const noexcept { return &**this; }
  Core& operator*() const noexcept {
    assert(core_ && "an object is used that has been moved from: assign another one to it first");
    return *core_;
  }

 private:
  Core* core_;
};

/// The part of a waiting operation that depends on its core alone: what an initiation names as its
/// operation_type derives from it (see direct_initiation), and adds a constructor that takes the
/// initiation, and `bool start() noexcept`.
template <class Core, class Base = waiting_operation>
class core_operation : public Base {
 public:
  /// May be called again.
  void retain() noexcept {
    if (!std::exchange(is_retaining_, true))
      core_->retain();
  }

  /// It is about to be linked.
  void become_pending() noexcept {
    Base::become_pending();
    if (&this->owner() != &core_->owner()) [[unlikely]]
      wait_abroad(&abandon);
  }

  /// Of whatever type: a wait that is aborted has had no effect.
  void cancel(cancellation_type type) noexcept {
    if (type == cancellation_type::none)
      return;
    completed_waits done;
    const std::lock_guard lock(*core_);
    if (this->is_pending())
      core_->withdraw(*this, done);
  }

 protected:
  template <class... Args>
  core_operation(operation::function f, scheduler& owner, Core& core, Args... args) noexcept
      : Base(f, owner, args...), core_(&core) {}
  ~core_operation() {
    if (is_retaining_)
      core_->release();
  }

  Core& core() const noexcept { return *core_; }
  bool is_retaining() const noexcept { return is_retaining_; }

  /// The context of its owner may end before that of its core.
  void retain_if_abroad() noexcept {
    if (&this->owner() != &core_->owner()) [[unlikely]]
      retain();
  }

  [[gnu::noinline]] void wait_abroad(waiting_operation::abandon_function f) noexcept {
    retain();
    this->go_abroad(f);
  }

  static bool abandon(waiting_operation& op) noexcept {
    auto& self = static_cast<core_operation&>(op);
    self.core_->change_thread();
    completed_waits done;
    const std::lock_guard lock(*self.core_);
    if (!self.is_pending())
      return true;
    if constexpr (requires { self.core_->abandon(self, done); }) {
      return self.core_->abandon(self, done);
    } else {
      self.core_->withdraw(self, done);
      return true;
    }
  }

 private:
  Core* const core_;
  bool is_retaining_ = false;
};

}  // namespace WEFT_NAMESPACE::detail
