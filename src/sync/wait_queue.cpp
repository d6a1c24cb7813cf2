// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/wait_queue.hpp>

#include <mutex>
#include <thread>

#include <weft/execution/execution_context.hpp>

#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE::detail {

// ---- wait_service

/// The cores of one context, and its operations that wait in cores of others. When that ends, so do
/// the operations that are pending in them.
///
/// Who takes an operation from a core of another context takes it off the list and gives it to its
/// scheduler under the lock. So when the list is empty, nobody has anything left to do here. Once
/// the service is shut down, such an operation is destroyed by its scheduler and nobody else: it is
/// there as long as the service looks at it. One that somebody else has claimed, the service waits
/// for by taking the lock once more: the claim and the queueing are one step under it.
///
/// The lock guards the lists; but for the scheduler's none is taken under it.
class wait_service final : public execution_context::service {
 public:
  using key_type = wait_service;

  // The scheduler is made first, so that it is shut down after this service.
  explicit wait_service(execution_context& owner) : service(owner) { use_scheduler(owner); }
  ~wait_service() override {
    while (take_first()) {}
  }

  void add(wait_registration& r) noexcept {
    const std::lock_guard lock(mutex_);
    r.next_ = first_;
    if (first_)
      first_->previous_ = &r;
    first_ = &r;
  }

  void remove(wait_registration& r) noexcept {
    const std::lock_guard lock(mutex_);
    unlink(r);
  }

  void add(waiting_operation& op) noexcept {
    const std::lock_guard lock(mutex_);
    op.abroad_ = this;
    link(op, abroad_);
  }
  void remove(waiting_operation& op) noexcept {
    const std::lock_guard lock(mutex_);
    forget(op);
  }
  /// Takes it off the list, and gives it to its scheduler.
  void complete(waiting_operation& op) noexcept {
    const std::lock_guard lock(mutex_);
    forget(op);
    scheduler_complete(op.owner(), &op);
  }
  /// The context of its core ends. Whether it is the caller's to destroy.
  bool give_up(waiting_operation& op) noexcept {
    const std::lock_guard lock(mutex_);
    forget(op);
    if (is_closed_) {
      scheduler_complete(op.owner(), &op);
      return false;
    }
    scheduler_work_finished(op.owner());
    return true;
  }

  std::mutex& mutex() noexcept { return mutex_; }

 private:
  void unlink(wait_registration& r) noexcept {
    (r.previous_ ? r.previous_->next_ : first_) = r.next_;
    if (r.next_)
      r.next_->previous_ = r.previous_;
  }
  static void link(waiting_operation& op, waiting_operation*& first) noexcept {
    op.next_abroad_ = first;
    op.link_abroad_ = &first;
    if (first)
      first->link_abroad_ = &op.next_abroad_;
    first = &op;
  }
  static void unlink(waiting_operation& op) noexcept {
    *op.link_abroad_ = op.next_abroad_;
    if (op.next_abroad_)
      op.next_abroad_->link_abroad_ = op.link_abroad_;
  }
  static void forget(waiting_operation& op) noexcept {
    unlink(op);
    op.abroad_ = nullptr;
  }

  /// The scheduler has them all when it returns.
  void call_home() noexcept {
    for (;;) {
      waiting_operation* op;
      {
        const std::lock_guard lock(mutex_);
        is_closed_ = true;
        op = abroad_;
        if (op) {
          unlink(*op);
          link(*op, called_);
        } else if (!called_) {
          return;
        }
      }
      if (!op)
        std::this_thread::yield();
      else if (!op->abandon_(*op))
        remove(*op);
    }
  }

  // The operations are destroyed outside the locks, and when all have been taken: their handlers
  // may own the objects.
  void shutdown() override {
    call_home();
    completed_waits pending;
    while (wait_registration* const r = take_first())
      r->shut_down(pending);
    pending.destroy();
  }

  wait_registration* take_first() noexcept {
    const std::lock_guard lock(mutex_);
    wait_registration* r = first_;
    // One that is about to leave takes itself out.
    while (r && !r->service_.exchange(nullptr, std::memory_order_relaxed))
      r = r->next_;
    if (r)
      unlink(*r);
    return r;
  }

  std::mutex mutex_;
  wait_registration* first_ = nullptr;
  waiting_operation* abroad_ = nullptr;
  waiting_operation* called_ = nullptr;  // have been abandoned, and are on their way
  bool is_closed_ = false;
};

// ---- waiting_operation

void waiting_operation::go_abroad(abandon_function abandon) noexcept {
  abandon_ = abandon;
  use_service<wait_service>(owner_->context()).add(*this);
}
void waiting_operation::come_home() noexcept {
  abroad_->remove(*this);
}

// ---- ending_lock

ending_lock::ending_lock(scheduler& owner) noexcept
    : service_(use_service<wait_service>(owner.context())) {
  service_.mutex().lock();
}
ending_lock::~ending_lock() {
  service_.mutex().unlock();
}

// ---- completed_waits

namespace {

/// The first continues the handler that has made them ready.
void complete(scheduler& owner, operation_queue& ops) noexcept {
  scheduler_complete_next(owner, ops.pop());
  scheduler_complete(owner, ops);
}

}  // namespace

void completed_waits::deliver(waiting_operation& op) noexcept {
  if (op.relocking_ != waiting_operation::relocking::later && !op.abroad_) [[likely]]
    return scheduler_complete_next(op.owner(), &op);
  completed_waits one;
  one.push(op);
  one.deliver_all();
}

void completed_waits::deliver() noexcept {
  if (first_ == last_)
    deliver(*pop());
  else
    deliver_all();
}

[[gnu::noinline]] void completed_waits::deliver_all() noexcept {
  using relocking = waiting_operation::relocking;
  operation_queue of_one_owner;
  scheduler* owner = nullptr;
  while (waiting_operation* const op = pop()) {
    if (op->relocking_ == relocking::later) {
      op->relocking_ = relocking::begun;
      auto* const relocks = static_cast<relocking_operation*>(op);
      relocks->relock_(*relocks);
      continue;
    }
    if (op->abroad_) {
      op->abroad_->complete(*op);
      continue;
    }
    if (owner != &op->owner()) {
      if (owner)
        complete(*owner, of_one_owner);
      owner = &op->owner();
    }
    of_one_owner.push(op);
  }
  if (owner)
    complete(*owner, of_one_owner);
}

void completed_waits::destroy() noexcept {
  while (waiting_operation* const op = pop()) {
    scheduler& owner = op->owner();
    if (op->abroad_) {
      if (op->abroad_->give_up(*op))
        op->destroy();
      continue;
    }
    op->destroy();
    scheduler_work_finished(owner);
  }
}

// ---- wait_registration

wait_registration::wait_registration(execution_context& context)
    : service_(&use_service<wait_service>(context)) {
  service_.load(std::memory_order_relaxed)->add(*this);
}

wait_registration::~wait_registration() {
  leave();
}

void wait_registration::leave() noexcept {
  if (wait_service* const service = service_.exchange(nullptr, std::memory_order_relaxed))
    service->remove(*this);
}

}  // namespace WEFT_NAMESPACE::detail
