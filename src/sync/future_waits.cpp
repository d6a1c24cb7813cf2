// SPDX-License-Identifier: BSL-1.0
#include "sync/future_waits.hpp"

#include <mutex>
#include <thread>

#include "context/scheduler/scheduler.hpp"

namespace WEFT_NAMESPACE::detail {

bool future_waits::add(future_wait& wait) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_closed_)
    return false;
  wait.list_ = this;
  wait.next_ = first_;
  if (first_)
    first_->previous_ = &wait;
  first_ = &wait;
  return true;
}

void future_waits::unlink(future_wait& wait) noexcept {
  (wait.previous_ ? wait.previous_->next_ : first_) = wait.next_;
  if (wait.next_)
    wait.next_->previous_ = wait.previous_;
}

void future_waits::remove(future_wait& wait) noexcept {
  const std::lock_guard lock(mutex_);
  unlink(wait);
}

void future_waits::complete(future_wait& wait) noexcept {
  const std::lock_guard lock(mutex_);
  unlink(wait);
  scheduler_complete(wait.owner_, &wait);
}

void future_waits::shutdown() {
  {
    operation_queue abandoned;  // destroyed outside the lock: handlers may own what waits
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    for (future_wait* wait = first_; wait;) {
      future_wait* const next = wait->next_;
      if (wait->state_->detach(*wait)) {
        unlink(*wait);
        abandoned.push(wait);
      }
      wait = next;
    }
  }
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (!first_)
        return;
    }
    std::this_thread::yield();
  }
}

// ---- future_wait

bool future_wait::start() noexcept {
  if (state_->is_ready())
    return false;
  scheduler_work_started(owner_);
  const future_producer& producer = state_->producer();
  if (!producer.is_queued || producer.loop != &owner_) {
    if (!use_service<future_waits>(owner_.context()).add(*this)) {
      ending_ = ending::aborted;
      scheduler_complete(owner_, this);
      return true;
    }
  }
  const auto arrived = state_->attach(*this);
  if (arrived == future_state_base::arrival::waits)
    return true;
  if (arrived == future_state_base::arrival::is_taken)
    ending_ = ending::is_taken;
  if (list_)
    list_->remove(*this);
  scheduler_work_finished(owner_);
  return false;
}

void future_wait::tell(future_waiter* waiter) noexcept {
  auto* const self = static_cast<future_wait*>(waiter);
  if (self->list_)
    self->list_->complete(*self);
  else
    scheduler_complete(self->owner_, self);
}

void future_wait::cancel(cancellation_type) noexcept {
  if (!state_->detach(*this))
    return;
  ending_ = ending::aborted;
  tell(this);
}

}  // namespace WEFT_NAMESPACE::detail
