// SPDX-License-Identifier: BSL-1.0
#include <memory>
#include <new>
#include <utility>

#include <weft/base/thread_memory.hpp>
#include <weft/io/timeout.hpp>

namespace WEFT_NAMESPACE::detail {

timeout::timeout(timer_state&& timer, wait_link* waits, cancellation_type type) noexcept
    : timeout_timer{std::move(timer)},
      wait_operation(&complete, own),
      waits_(waits ? waits : &own.waits()),
      type_(type) {}

timeout* timeout::make(timer_state&& timer, wait_link* waits, cancellation_type type) {
  void* memory = thread_memory::allocate(sizeof(timeout), alignof(timeout));
  return ::new (memory) timeout(std::move(timer), waits, type);
}

timeout::pointer timeout::create(timer_service& service, const timer_clock& clock,
                                 std::int64_t expiry, cancellation_type type) {
  timer_state timer(service, clock);
  timer.expires_at(expiry);
  return pointer(make(std::move(timer), nullptr, type));
}

timeout::pointer timeout::create(timer_state& timer, cancellation_type type) {
  return pointer(make(timer_state(std::as_const(timer)), &timer.waits(), type));
}

void timeout::arm() noexcept {
  parties_.fetch_add(1, std::memory_order_relaxed);
  if (!start(*waits_))
    drop(1);
}

void timeout::end() noexcept {
  drop(retract() ? 2 : 1);
}

void timeout::complete(operation* base, action what) {
  if (what == action::describe)
    return describe<timeout>(base, true);
  const pointer self(static_cast<timeout*>(base));
  if (what == action::invoke && !self->take_results().first)
    self->signal_.emit(self->type_);
}

void timeout::drop(int parties) noexcept {
  if (parties_.fetch_sub(parties, std::memory_order_acq_rel) != parties)
    return;
  this->~timeout();
  thread_memory::deallocate(this, sizeof(timeout), alignof(timeout));
}

}  // namespace WEFT_NAMESPACE::detail
