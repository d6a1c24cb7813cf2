// SPDX-License-Identifier: BSL-1.0
#include "context/scheduler/scheduler.hpp"

// What those may ask who look in from outside.

namespace WEFT_NAMESPACE::detail {

observation& scheduler::observation_locked() {
  if (!observation_)
    observation_ = std::make_unique<observation>();
  return *observation_;
}

void scheduler::set_observed() noexcept {
  const bool wanted = origins_wanted_ != 0 || observation_->measures();
  observed_.store(wanted ? observation_.get() : nullptr, std::memory_order_release);
  set_attention();
}

void scheduler::measure(bool on) {
  const lock l(mutex_);
  observation_locked().measure(on);
  set_observed();
}

const observation* scheduler::measured() const noexcept {
  const lock l(mutex_);
  return observation_.get();
}

void scheduler::begin_origins() {
  const lock l(mutex_);
  observation_locked();
  if (origins_wanted_++ == 0)
    for (worker* w = workers_; w; w = w->next_)
      w->origin_.store(nullptr, std::memory_order_relaxed);
  set_observed();
}

void scheduler::end_origins() noexcept {
  const lock l(mutex_);
  --origins_wanted_;
  set_observed();
}

void scheduler::add(observer& o) noexcept {
  const lock l(mutex_);
  o.next_ = observers_;
  observers_ = &o;
}

void scheduler::remove(observer& o) noexcept {
  const lock l(mutex_);
  observer** link = &observers_;
  while (*link != &o)
    link = &(*link)->next_;
  *link = o.next_;
}

bool scheduler::all_asleep(observer& o) noexcept {
  const lock l(mutex_);
  o.waits_ = awake_ == 0;
  return o.waits_;
}

/// A worker comes, or goes on.
void scheduler::woke() noexcept {
  if (awake_++ != 0)
    return;
  for (observer* o = observers_; o; o = o->next_)
    if (o->waits_) {
      o->waits_ = false;
      o->on_awake();
    }
}

}  // namespace WEFT_NAMESPACE::detail
