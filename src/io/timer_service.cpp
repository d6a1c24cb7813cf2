// SPDX-License-Identifier: BSL-1.0
#include "io/timer_service.hpp"

#include <utility>

#include "context/scheduler/scheduler.hpp"
#include "io/timer_core.ipp"

namespace WEFT_NAMESPACE::detail {

timer_service::timer_service(scheduler& owner, void (*wake)(void*), void* wake_arg)
    : core_(new timer_core(owner, wake, wake_arg)) {}

timer_service::~timer_service() {
  core_->detach();
}

std::int64_t timer_service::prepare_wait() noexcept {
  return core_->prepare_wait();
}

void timer_service::finish_wait() noexcept {
  core_->finish_wait();
}

bool timer_service::collect(operation_queue& ready) noexcept {
  return !core_->empty() && core_->collect(ready);
}

std::size_t timer_service::pending() const noexcept {
  return core_->pending();
}

bool timer_service::empty() const noexcept {
  return core_->empty();
}

void timer_service::shutdown(operation_queue& out) noexcept {
  core_->shutdown(out);
}

// ---- wait_operation

bool wait_operation::settle() noexcept {
  return core_->settle(this);
}

bool wait_operation::start(wait_link& waits) noexcept {
  return core_->start(waits, this);
}

bool wait_operation::retract() noexcept {
  return core_->retract(this);
}

void wait_operation::cancel() noexcept {
  core_->cancel(this);
}

// ---- timer_state

timer_state::timer_state(timer_service& service, const timer_clock& clock)
    : core_(&service.core()), scheduler_(&core_->owner()), queue_(core_->attach(clock)) {}

timer_state::timer_state(const timer_state& other) noexcept
    : core_(other.core_),
      scheduler_(other.scheduler_),
      queue_(other.queue_),
      expiry_(other.expiry_) {
  core_->attach();
}

timer_state::timer_state(timer_state&& other) noexcept
    : core_(other.core_),
      scheduler_(other.scheduler_),
      queue_(other.queue_),
      expiry_(std::exchange(other.expiry_, 0)) {
  core_->attach(waits_, other.waits_);
}

timer_state& timer_state::operator=(timer_state&& other) noexcept {
  if (this == &other)
    return *this;
  cancel();
  timer_core* const left = std::exchange(core_, other.core_);
  scheduler_ = other.scheduler_;
  queue_ = other.queue_;
  expiry_ = std::exchange(other.expiry_, 0);
  core_->attach(waits_, other.waits_);
  left->detach();
  return *this;
}

timer_state::~timer_state() {
  cancel();
  core_->detach();
}

bool timer_state::is_expired() const noexcept {
  return expiry_ <= queue_->clock_->now();
}

void timer_state::wait() const noexcept {
  while (!is_expired())
    sleep_for(queue_->clock_->to_wait(expiry_));
}

std::size_t timer_state::cancel_waits(bool all) noexcept {
  return core_->cancel(waits_, all);
}

}  // namespace WEFT_NAMESPACE::detail
