// SPDX-License-Identifier: BSL-1.0
#include <weft/sync/wait_queue.hpp>

#include <mutex>

#include <weft/execution/execution_context.hpp>

namespace WEFT_NAMESPACE::detail {

// ---- completed_waits

namespace {

/// The first continues the handler that has made them ready.
void complete(scheduler& owner, operation_queue& ops) noexcept {
  scheduler_complete_next(owner, ops.pop());
  scheduler_complete(owner, ops);
}

}  // namespace

void completed_waits::deliver() noexcept {
  operation* op = operations_.pop();
  if (auto* const only = static_cast<waiting_operation*>(op);
      operations_.empty() && only->relocking_ != waiting_operation::relocking::later) [[likely]]
    return scheduler_complete(only->owner(), op);
  operation_queue of_one_owner;
  scheduler* owner = nullptr;
  for (; op; op = operations_.pop()) {
    auto* const ended = static_cast<waiting_operation*>(op);
    if (ended->relocking_ == waiting_operation::relocking::later) {
      ended->relocking_ = waiting_operation::relocking::begun;
      auto* const relocking = static_cast<relocking_operation*>(ended);
      relocking->relock_(*relocking);
      continue;
    }
    if (owner != &ended->owner()) {
      if (owner)
        complete(*owner, of_one_owner);
      owner = &ended->owner();
    }
    of_one_owner.push(op);
  }
  if (owner)
    complete(*owner, of_one_owner);
}

void completed_waits::destroy() noexcept {
  while (operation* const op = operations_.pop()) {
    scheduler& owner = static_cast<waiting_operation*>(op)->owner();
    op->destroy();
    scheduler_work_finished(owner);
  }
}

// ---- wait_service

/// The cores of one context. When that ends, so do the operations that are pending in them.
///
/// The lock guards the list; none is taken under it.
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
    (r.previous_ ? r.previous_->next_ : first_) = r.next_;
    if (r.next_)
      r.next_->previous_ = r.previous_;
  }

 private:
  // The operations are destroyed outside the locks, and when all have been taken: their handlers
  // may own the objects.
  void shutdown() override {
    completed_waits pending;
    while (wait_registration* const r = take_first())
      r->shut_down(pending);
    pending.destroy();
  }

  wait_registration* take_first() noexcept {
    const std::lock_guard lock(mutex_);
    wait_registration* const r = first_;
    if (r) {
      first_ = r->next_;
      if (first_)
        first_->previous_ = nullptr;
      r->service_ = nullptr;
    }
    return r;
  }

  std::mutex mutex_;
  wait_registration* first_ = nullptr;
};

wait_registration::wait_registration(execution_context& context)
    : service_(&use_service<wait_service>(context)) {
  service_->add(*this);
}

wait_registration::~wait_registration() {
  leave();
}

void wait_registration::leave() noexcept {
  if (service_)
    service_->remove(*this);
  service_ = nullptr;
}

}  // namespace WEFT_NAMESPACE::detail
